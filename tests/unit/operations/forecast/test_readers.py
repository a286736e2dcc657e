"""The readers of a changed table that would store rows a second time, or cast its values back."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.readers import reader_effects
from tests.unit.schemas import schema

NARROW = schema({"day": "date", "amount": "decimal(10,2)"})
WIDE = schema({"day": "timestamp_ntz", "amount": "decimal(10,2)"})
PLANNER: Any = SimpleNamespace(relation=lambda _: "a table")


class CountingGraph(NodeGraph):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.asked = Counter[str]()

    def in_order(self):
        self.asked["order"] += 1
        return super().in_order()

    def inputs(self, node):
        self.asked[node["unique_id"]] += 1
        return super().inputs(node)


def node(name: str, code: str, *parents: str, materialized: str = "incremental") -> dict[str, Any]:
    return {
        "unique_id": name,
        "name": name,
        "package_name": "p",
        "resource_type": "model",
        "raw_code": code,
        "config": {"materialized": materialized},
        "depends_on": {"nodes": list(parents)},
    }


ROUNDED = {
    **node("rounded", ""),
    "resource_type": "function",
    "arguments": [{"name": "at", "data_type": "date"}],
    "returns": {"data_type": "int"},
}
NODES = [
    node("a", "select day"),
    node("b", "select md5(day) as k", "a"),
    node("c", "select rounded(day) as r", "a", "rounded", materialized="table"),
]


def graph_of(*functions: dict[str, Any]) -> CountingGraph:
    nodes = {each["unique_id"]: each for each in NODES}
    return CountingGraph({"nodes": nodes, "functions": {f["unique_id"]: f for f in functions}})


def test_the_inputs_of_each_node_are_asked_for_once():
    graph = graph_of(ROUNDED)
    before, after = dict.fromkeys("abc", NARROW), dict.fromkeys("abc", WIDE)
    found = [(e.name, e.because) for e in reader_effects(graph, PLANNER, before, after)]
    assert found == [("rounded", ("a",)), ("b", ("a",))]
    assert set(graph.asked.values()) == {1}


def test_nothing_is_asked_for_where_no_type_changes_or_no_function_is():
    for functions, after in (((ROUNDED,), NARROW), ((), WIDE)):
        graph = graph_of(*functions)
        list(reader_effects(graph, PLANNER, {"a": NARROW}, {"a": after, "new": after}))
        assert not graph.asked


def test_names_that_differ_in_case_only_have_no_effects():
    twice = schema({"day": "date", "DAY": "date"})
    assert list(reader_effects(graph_of(), PLANNER, {"a": NARROW}, {"a": twice})) == []
