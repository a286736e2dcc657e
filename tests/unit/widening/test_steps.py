"""What each step changes, says and takes back."""

import pytest
from pyspark.sql.types import DoubleType, FloatType, IntegerType, StructField

from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.report import changes_text
from dbt.adapters.deltawiden.widening.schema_diff import FieldDifference
from dbt.adapters.deltawiden.widening.steps import (
    AddColumns,
    AlterTypes,
    ClusterBy,
    DropColumns,
    RewriteRows,
    SetProperties,
    SetStatistics,
    Step,
    UnsetProperties,
    UnsetStatistics,
    WidenFloats,
)
from tests.unit.schemas import DELTA_3_3, make_plan, policy, table_snapshot

TABLE = "`s`.`t`"
TURNS_OFF = (UnsetProperties(TABLE, ("delta.enableTypeWidening",)),)
FIELD = FieldDifference(("s", "x y"), StructField("x y", IntegerType()))
CHANGE = TypeChange(("x",), FloatType(), DoubleType())
STEPS = {
    SetProperties(TABLE, (("k", "v"),)): "set tblproperties ('k' = 'v')",
    UnsetProperties(TABLE, ("k",)): "unset tblproperties if exists ('k')",
    AlterTypes(TABLE, (CHANGE,)): "alter column `x` type double",
    WidenFloats(
        TABLE, (CHANGE,)
    ): "alter column `x` type double /* with the statistics of its files */",
    ClusterBy(TABLE, (("x",), ("s", "y"))): "cluster by (`x`, `s`.`y`)",
    ClusterBy(TABLE, ()): "cluster by none",
    AddColumns(TABLE, (FIELD,)): "add columns (`s`.`x y` int)",
    DropColumns(TABLE, (FIELD,)): "drop columns (`s`.`x y`)",
}


@pytest.mark.parametrize(("step", "verb"), STEPS.items())
def test_each_step_is_one_statement(step: Step, verb: str):
    assert step.statement == f"alter table {TABLE} {verb}"


def test_a_step_that_rewrites_each_row_sets_a_column_to_itself():
    assert RewriteRows(TABLE, "x").statement == f"update {TABLE} set `x` = `x`"
    rewrites = RewriteRows(TABLE, "x", ("day",)).statement
    assert rewrites == f"update {TABLE} set `x` = `x`, `day` = `day`"


def test_the_steps_say_in_one_line_what_a_reader_finds_changed():
    plan = Plan(TABLE, tuple(STEPS))
    assert changes_text(plan) == (
        f"{TABLE}: widened x: float -> double, x: float -> double; added s.`x y`; dropped s.`x y`"
    )


def widening_that_turns_the_property_on(snapshot: TableSnapshot | None = None) -> Plan:
    table, source = {"a": "tinyint", "b": "tinyint"}, {"a": "int", "b": "int", "c": "int"}
    return make_plan(table, source, policy(type_widening=True), snapshot or table_snapshot({}))


@pytest.mark.parametrize("engine", [{}, {"engine": DELTA_3_3}])
def test_a_property_that_was_set_for_failed_changes_is_unset(engine):
    enables, *others = widening_that_turns_the_property_on(table_snapshot({}, **engine)).steps
    assert enables.undo([enables]) == TURNS_OFF
    assert enables.undo([enables, others[0]]) == ()
    assert enables.undo([enables, *others]) == ()


def test_a_property_that_was_set_before_is_never_unset():
    plan = widening_that_turns_the_property_on(table_snapshot())
    assert [step.undo([step]) for step in plan.steps] == [(), ()]


def test_only_settings_are_undone():
    restored = (UnsetStatistics(TABLE, ("saved",)),)
    assert SetStatistics(TABLE, (), restored).undo([]) == restored
    assert [step.undo([step]) for step in STEPS] == [()] * len(STEPS)


def test_steps_of_different_kinds_are_different():
    assert len({type(step): step for step in STEPS}) == len(STEPS) - 1
    assert AlterTypes(TABLE, (CHANGE,)) != WidenFloats(TABLE, (CHANGE,))
    assert AddColumns(TABLE, (FIELD,)) != DropColumns(TABLE, (FIELD,))
    assert [step for step in STEPS if not step.is_goal] == []
    assert not any(step.is_goal for step in (SetStatistics, UnsetStatistics, RewriteRows))
