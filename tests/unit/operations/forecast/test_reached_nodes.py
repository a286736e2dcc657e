"""The readers of a changed table that would store rows a second time, or cast its values back."""

from types import SimpleNamespace
from typing import Any

from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.reached_nodes import reader_effects
from tests.unit.schemas import schema

NARROW = schema({"day": "date", "amount": "decimal(10,2)"})
WIDE = schema({"day": "timestamp_ntz", "amount": "decimal(10,2)"})
PLANNER: Any = SimpleNamespace(relation=lambda _: "a table")


class CountingGraph(NodeGraph):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.orders = 0

    def in_order(self):
        self.orders += 1
        return super().in_order()


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


def test_the_graph_is_read_once_for_all_tables():
    graph = graph_of(ROUNDED)
    before, after = dict.fromkeys("abc", NARROW), dict.fromkeys("abc", WIDE)
    found = [(e.name, e.because) for e in reader_effects(graph, PLANNER, before, after)]
    assert found == [("rounded", ("a",)), ("b", ("a",))]
    assert graph.orders == 1


def test_the_graph_is_not_read_where_no_type_changes():
    graph = graph_of(ROUNDED)
    assert not list(reader_effects(graph, PLANNER, {"a": NARROW}, {"a": NARROW, "new": NARROW}))
    assert graph.orders == 0


def test_a_function_is_found_through_ephemeral_models_and_functions_but_not_through_tables():
    hands_on = node("hands_on", "select day", "a", materialized="ephemeral")
    reads = {**ROUNDED, **node("reads", "", "hands_on"), "resource_type": "function"}
    after_it = node("after_it", "select rounded(day)", "reads", "rounded", materialized="table")
    tested = {**node("tested", "select rounded(day)", "a", "other"), "resource_type": "test"}
    of_table = node("of_table", "select other(day)", "after_it", "other")
    functions = {each: {**ROUNDED, "name": each} for each in ("rounded", "other")}
    nodes = (NODES[0], hands_on, after_it, tested, of_table)
    graph = NodeGraph(
        {
            "nodes": {each["unique_id"]: each for each in nodes},
            "functions": {**functions, "reads": reads},
        }
    )
    found = reader_effects(graph, PLANNER, {"a": NARROW}, {"a": WIDE})
    assert [effect.name for effect in found] == ["reads", "rounded"]


def test_names_that_differ_in_case_only_have_no_effects():
    twice = schema({"day": "date", "DAY": "date"})
    assert list(reader_effects(graph_of(), PLANNER, {"a": NARROW}, {"a": twice})) == []
