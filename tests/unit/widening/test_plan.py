"""The order of the steps of a plan."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import IntegerType, LongType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.backfill import BackfillColumns, FillColumns, StillWaiting
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.steps import (
    AddColumns,
    AlterTypes,
    ClusterBy,
    DropColumns,
    RenameColumn,
    SetProperties,
    Stage,
)

TABLE = "`s`.`t`"
BEFORE = (
    SetProperties(TABLE, (("delta.enableTypeWidening", "true"),)),
    RenameColumn(TABLE, ("a",), "b"),
    ClusterBy(TABLE, (("b",),)),
    AlterTypes(TABLE, (TypeChange(("b",), IntegerType(), LongType()),)),
    AddColumns(TABLE, ()),
    ClusterBy(TABLE, (("c",),), Stage.NEW_CLUSTERING),
    FillColumns(TABLE, (("c", "1"),)),
)
AFTER = (
    BackfillColumns(TABLE, ("d",), ("id",)),
    ClusterBy(TABLE, (("b",),), Stage.CLUSTERING_AGAIN),
    DropColumns(TABLE, ()),
)


@given(st.permutations((*BEFORE, *AFTER)))
def test_the_steps_run_in_one_order_whatever_adds_them_first(steps):
    plan = Plan(TABLE)
    for step in steps:
        plan = plan.adding(step)
    assert (plan.before, plan.after) == (BEFORE, AFTER)


def test_steps_of_one_stage_run_in_the_order_in_which_they_are_given():
    backfilled = BackfillColumns(TABLE, ("d",), ("id",)), StillWaiting(TABLE)
    for steps in permutations(backfilled):
        assert Plan(TABLE, steps).after == steps


def test_properties_are_set_in_one_statement_and_those_of_the_plan_win():
    plan = Plan(TABLE, BEFORE).with_properties({"delta.enableTypeWidening": "no", "k": "v"})
    assert plan.properties == {"k": "v", "delta.enableTypeWidening": "true"}
    assert plan.before[1:] == BEFORE[1:]
