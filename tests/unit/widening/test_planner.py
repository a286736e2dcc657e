"""What holds for every plan, whatever the table and the source are."""

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.widening.schema_diff import compare
from dbt.adapters.deltawiden.widening.steps import (
    AddColumns,
    AlterTypes,
    DropColumns,
    SetProperties,
    WidenFloats,
)
from tests.unit.schemas import ENABLED, make_plan, policy, schema_after, table_snapshot
from tests.unit.strategies import (
    automatic_policies,
    column_mapped_snapshots,
    policies,
    table_snapshots,
    tables_with_sources,
    widenable_tables,
)


@given(widenable_tables, automatic_policies, table_snapshots)
def test_a_table_changed_as_planned_stores_every_value_of_the_source(sides, model, snapshot):
    table, source = sides
    plan = make_plan(table, source, model, table_snapshot({**snapshot.properties, **ENABLED}))
    if not plan.refusals:
        assert not compare(source, schema_after(plan, table)).types


@given(widenable_tables, automatic_policies)
def test_a_table_that_can_be_widened_is_never_refused(sides, model):
    assert not make_plan(*sides, model).refusals


@given(tables_with_sources, policies, column_mapped_snapshots)
def test_the_schema_after_a_plan_needs_no_further_change(sides, model, snapshot):
    table, source = sides
    plan = make_plan(table, source, model, snapshot)
    if plan.refusals:
        return
    after = schema_after(plan, table)
    assert not compare(source, after).types
    assert not compare(source, after).new
    again = make_plan(after, source, model, snapshot)
    assert (again.statements, again.refusals) == ([], ())


@given(tables_with_sources, policies, table_snapshots, st.randoms())
def test_a_plan_does_not_depend_on_the_order_of_columns(sides, model, snapshot, random):
    plan = make_plan(*sides, model, snapshot)
    table, source = [StructType(random.sample(side.fields, len(side.fields))) for side in sides]
    mixed = make_plan(table, source, model, snapshot)
    for part in ("changes", "new", "dropped", "refusals"):
        assert set(getattr(mixed, part)) == set(getattr(plan, part)), part
    assert mixed.properties == plan.properties
    assert set(mixed.write.columns) == set(plan.write.columns)
    assert len(mixed.statements) == len(plan.statements)


@given(tables_with_sources, policies, table_snapshots)
def test_a_plan_with_refusals_has_no_statements(sides, model, snapshot):
    plan = make_plan(*sides, model, snapshot)
    if plan.refusals:
        assert plan.statements == []


@given(tables_with_sources, policies, table_snapshots)
def test_every_leaf_that_differs_is_changed_or_refused(sides, model, snapshot):
    table, source = sides
    plan = make_plan(table, source, model, snapshot)
    changed = [change.path for change in plan.changes]
    refused = {refusal.path for refusal in plan.refusals}
    assert len(set(changed)) == len(changed)
    assert len(set(plan.refusals)) == len(plan.refusals)
    for difference in compare(source, table).types:
        assert (difference.path in changed) != (difference.path in refused)


@given(tables_with_sources, table_snapshots)
def test_with_fail_every_difference_is_refused(sides, snapshot):
    table, source = sides
    plan = make_plan(table, source, policy("fail", type_widening=True), snapshot)
    assert bool(plan.refusals) == bool(compare(source, table))
    assert not plan.statements


@given(tables_with_sources, policies, column_mapped_snapshots)
def test_statements_that_delta_can_refuse_run_first(sides, model, snapshot):
    # The change from float to double is a commit of its own.
    kinds = [SetProperties, AlterTypes, WidenFloats, AddColumns, DropColumns]
    plan = make_plan(*sides, model, snapshot)
    order = [kinds.index(type(step)) for step in plan.steps]
    assert order == sorted(set(order))
