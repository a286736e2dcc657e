"""A plan that changes nothing, for on_schema_change ignore."""

from hypothesis import given

from dbt.adapters.deltawiden.widening.planner import plan_write_alone
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.schema_diff import compare
from tests.unit.schemas import reasons, schema
from tests.unit.strategies import tables_with_sources


def test_a_plan_without_changes_names_the_columns_that_can_lose_values():
    table, source = (
        schema({"a": "int", "b": "int", "c": "int"}),
        schema({"A": "bigint", "b": "int"}),
    )
    plan = plan_write_alone(compare(source, table), source, table, "`s`.`t`", check=None)
    assert plan.statements == []
    assert reasons(plan) == [(("c",), Reason.MISSING_AND_MODE_IS_IGNORE)]
    assert [change.path for change in plan.lossy] == [("a",)]
    assert [(column.name, column.in_source) for column in plan.write.columns] == [
        ("a", True),
        ("b", True),
        ("c", True),
    ]


def test_a_nested_field_cannot_be_ignored():
    table, source = (
        schema({"s": {"a": "int", "gone": "int"}}),
        schema({"s": {"a": "int", "b": "int"}}),
    )
    plan = plan_write_alone(compare(source, table), source, table, "`t`", check=None)
    assert reasons(plan) == [
        (("s", "b"), Reason.NESTED_AND_MODE_IS_IGNORE),
        (("s", "gone"), Reason.NESTED_AND_MODE_IS_IGNORE),
    ]


@given(tables_with_sources)
def test_a_plan_without_changes_has_no_statement(sides):
    table, source = sides
    plan = plan_write_alone(compare(source, table), source, table, "`t`", check=None)
    assert plan.statements == []
    refused = {refusal.path for refusal in plan.refusals if refusal.reason is Reason.NOT_WRITABLE}
    decided = {change.path for change in plan.lossy} | refused
    assert decided == {difference.path for difference in compare(source, table).types}
