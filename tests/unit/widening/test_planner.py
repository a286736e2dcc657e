"""What holds for every plan, whatever the table and the source are."""

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.widening.schema_diff import compare
from tests.unit.schemas import ENABLED, facts, plan, policy, schema_after
from tests.unit.strategies import (
    automatic_policies,
    known_facts,
    mapped_facts,
    policies,
    tables_with_sources,
    widenable_tables,
)


@given(widenable_tables, automatic_policies, known_facts)
def test_a_table_changed_as_planned_stores_every_value_of_the_source(sides, model, known):
    table, source = sides
    made = plan(table, source, model, facts({**known.properties, **ENABLED}))
    if not made.refusals:
        assert not compare(source, schema_after(made, table)).types


@given(widenable_tables, automatic_policies)
def test_what_can_be_widened_is_never_refused(sides, model):
    assert not plan(*sides, model).refusals


@given(tables_with_sources, policies, mapped_facts)
def test_a_schema_that_is_reached_needs_no_plan(sides, model, known):
    table, source = sides
    made = plan(table, source, model, known)
    if made.refusals:
        return
    after = schema_after(made, table)
    assert not compare(source, after).types
    assert not compare(source, after).new
    again = plan(after, source, model, known)
    assert (again.statements, again.refusals) == ([], ())


@given(tables_with_sources, policies, known_facts, st.randoms())
def test_a_plan_does_not_depend_on_the_order_of_columns(sides, model, known, random):
    made = plan(*sides, model, known)
    table, source = [StructType(random.sample(side.fields, len(side.fields))) for side in sides]
    mixed = plan(table, source, model, known)
    for part in ("changes", "new", "dropped", "properties", "refusals"):
        assert set(getattr(mixed, part)) == set(getattr(made, part)), part
    assert set(mixed.write.columns) == set(made.write.columns)
    assert len(mixed.statements) == len(made.statements)


@given(tables_with_sources, policies, known_facts)
def test_a_plan_with_refusals_has_no_statements(sides, model, known):
    made = plan(*sides, model, known)
    if made.refusals:
        assert made.statements == []


@given(tables_with_sources, policies, known_facts)
def test_every_leaf_that_differs_is_changed_or_refused(sides, model, known):
    table, source = sides
    made = plan(table, source, model, known)
    changed = [change.path for change in made.changes]
    refused = {refusal.path for refusal in made.refusals}
    assert len(set(changed)) == len(changed)
    assert len(set(made.refusals)) == len(made.refusals)
    for difference in compare(source, table).types:
        assert (difference.path in changed) != (difference.path in refused)


@given(tables_with_sources, known_facts)
def test_under_fail_whatever_differs_is_refused(sides, known):
    table, source = sides
    made = plan(table, source, policy("fail", type_widening=True), known)
    assert bool(made.refusals) == bool(compare(source, table))
    assert not made.statements


@given(tables_with_sources, policies, mapped_facts)
def test_statements_run_in_an_order_in_which_what_can_be_refused_comes_first(sides, model, known):
    kinds = ["set tblproperties", "alter column", "add columns", "drop columns"]
    made = plan(*sides, model, known)
    order = [
        next(
            i for i, kind in enumerate(kinds) if statement.startswith(f"alter table `s`.`t` {kind}")
        )
        for statement in made.statements
        # The change from float to double is a commit of its own.
        if statement != made.statement_with_statistics or made.changes == made.with_statistics
    ]
    assert order == sorted(set(order))
