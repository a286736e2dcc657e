"""The functions of dbt whose declared types a column outgrows."""

import re
from typing import Any

from pyspark.sql.types import DateType, DecimalType, IntegerType, LongType, TimestampNTZType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.views.narrow_functions import narrow_functions
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.steps import AlterTypes
from dbt.adapters.deltawiden.writes.model_views import readers_texts

AMOUNT = TypeChange(("amount",), DecimalType(8, 2), DecimalType(12, 4))
NUMBER = TypeChange(("n",), IntegerType(), LongType())
DAY = TypeChange(("day",), DateType(), TimestampNTZType())


def reads(*parents: str) -> dict[str, Any]:
    return {"depends_on": {"nodes": list(parents)}}


def function(
    name: str, *arguments: str, returns: str = "boolean", calls: tuple[str, ...] = ()
) -> Any:
    listed = [{"name": f"a{n}", "data_type": text} for n, text in enumerate(arguments, 1)]
    return {
        "name": name,
        "arguments": listed,
        "returns": {"data_type": returns},
        **reads(*calls),
    }


FUNCTIONS = {
    "function.p.net": function("net", "DECIMAL(8,2)", "boolean"),
    "function.p.nested": function("nested", "struct<x array<decimal(8, 2)>>"),
    "function.p.outer": function("outer", "string", calls=("function.p.net",)),
    "function.p.wide": function("wide", "decimal(12,4)"),
    "function.p.narrow_on_purpose": function("narrow_on_purpose", "decimal(5,2)"),
    "function.p.of_days": function("of_days", "date", "mine"),
    "function.p.returned": function("returned", "decimal(38,10)", returns="decimal(8,2)"),
    "function.p.largest": function("largest", returns="decimal(8,2)", calls=("model.p.sales",)),
    "function.p.rows": function("rows", returns="table (a1 int, a2 decimal(8,2))"),
    "function.p.unread": function("unread", "decimal(8,2)"),
}
GRAPH = {
    "functions": FUNCTIONS,
    "nodes": {
        "model.p.view": reads("model.p.orders"),
        "model.p.reader": {**reads("model.p.view", "function.p.net"), "name": "reader"},
        "model.p.by_body": reads("function.p.largest", "function.p.of_days"),
        "model.p.other": reads("model.p.customers", "function.p.unread"),
    },
}


def found(*changes: TypeChange, calls: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    names = [f"function.p.{name}" for name in calls]
    functions = narrow_functions(GRAPH, {"model.p.reader": reads(*names)}, changes)
    return {function.name: function.types for function in functions}


def test_an_argument_that_held_the_old_type_and_not_the_new_one_is_named():
    assert found(AMOUNT, NUMBER, calls=("net", "wide", "narrow_on_purpose")) == {
        "net": ("its argument a1 is DECIMAL(8,2); amount: decimal(8,2) -> decimal(12,4)",)
    }
    assert found(DAY, calls=("of_days", "net")).keys() == {"of_days"}


def test_a_type_that_a_function_returns_is_named():
    assert found(AMOUNT, calls=("returned",)) == {
        "returned": ("it returns decimal(8,2); amount: decimal(8,2) -> decimal(12,4)",)
    }
    assert not found(NUMBER, calls=("returned",))
    assert found(AMOUNT, calls=("rows",)).keys() == {"rows"}


def test_a_type_inside_an_argument_and_a_function_inside_a_function_count():
    assert found(AMOUNT, calls=("nested", "outer")).keys() == {"nested", "net"}


def test_the_run_names_the_functions_of_all_nodes_that_come_after_the_table():
    plan = Plan("`s`.`orders`", (AlterTypes("`s`.`orders`", (AMOUNT,)),))
    _, text, _ = readers_texts(plan, "model.p.orders", GRAPH)
    assert text.splitlines()[2:] == [
        "  net",
        "    its argument a1 is DECIMAL(8,2); amount: decimal(8,2) -> decimal(12,4)",
        "    Do: declare wider types, also for what it returns: dbt build --select net+",
    ]
    assert not any(readers_texts(plan, "model.p.elsewhere", GRAPH))
    without = {**GRAPH, "functions": {}}
    older = {key: value for key, value in GRAPH.items() if key != "functions"}
    assert not any(readers_texts(plan, "model.p.orders", without))
    assert not any(readers_texts(plan, "model.p.orders", older))


def test_a_function_that_reads_a_table_is_named_and_what_its_readers_call():
    plan = Plan("`s`.`sales`", (AlterTypes("`s`.`sales`", (AMOUNT, DAY)),))
    _, text, _ = readers_texts(plan, "model.p.sales", GRAPH)
    assert [line for line in text.splitlines() if re.fullmatch(r"  \w+", line)] == [
        "  largest",
        "  of_days",
    ]
