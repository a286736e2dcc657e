"""The steps that run before and after a write, and those that are undone if one fails."""

from types import SimpleNamespace
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql.types import IntegerType, LongType, StructField

from dbt.adapters.deltawiden.delta.backends.sql import USER_METADATA, SqlBackend
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.backfill import BackfillColumns, StillWaiting
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.schema_diff import FieldDifference
from dbt.adapters.deltawiden.widening.steps import (
    AlterTypes,
    ClusterBy,
    ClusterByHand,
    DropColumns,
    RenameColumn,
    RewriteRows,
    SetProperties,
    SetStatistics,
    Stage,
    Step,
    UnsetProperties,
    UnsetStatistics,
)
from dbt.adapters.deltawiden.writes.attempts import SchemaChangeFailed
from dbt.adapters.deltawiden.writes.run_steps import run_after_write, run_before_write

TABLE = "`s`.`t`"
ENABLES = SetProperties(TABLE, (("delta.enableTypeWidening", "true"),))
WIDENS = AlterTypes(TABLE, (TypeChange(("n",), IntegerType(), LongType()),))
UNSET = UnsetProperties(TABLE, ("delta.enableTypeWidening",)).statement
RESTORES = UnsetStatistics(TABLE, ("saved",))
STOPS = SetStatistics(TABLE, (("saved", "{}"),), (RESTORES,))
REWRITES = RewriteRows(TABLE, "n")
FIRST = DbtDatabaseError("[DELTA_SOMETHING] the first error")
CONFLICT = DbtDatabaseError("[DELTA_METADATA_CHANGED] another writer came first")
UNCHANGED = [("n", "int")]


class Engine:
    """Runs statements, except one that it refuses."""

    def __init__(
        self,
        refused: Step | None = None,
        error: DbtDatabaseError = FIRST,
        described: list[tuple[str, str]] | DbtDatabaseError = UNCHANGED,
    ) -> None:
        self.ran: list[str] = []
        self._refused, self._error, self._described = refused, error, described
        self.backend = SqlBackend(self._execute, lambda: None)

    def _execute(self, statement: str, fetch: bool = False) -> tuple[None, Any]:
        if statement.startswith("describe query"):
            if isinstance(self._described, DbtDatabaseError):
                raise self._described
            return None, SimpleNamespace(rows=self._described)
        if not statement.startswith(("set ", "reset ")):
            self.ran.append(statement)
        refused = self._refused
        if refused is not None and statement == getattr(refused, "merge", refused.statement):
            raise self._error
        return None, SimpleNamespace(rows=[(USER_METADATA, "<undefined>")])

    def failed_before_write(self, *steps: Step) -> SchemaChangeFailed:
        with pytest.raises(SchemaChangeFailed) as failed:
            run_before_write(self.backend, Plan(TABLE, steps), "model.x.t")
        # Users see the first error.
        assert failed.value.msg == self._error.msg
        return failed.value


def test_all_steps_run_in_their_order():
    engine = Engine()
    plan = Plan(TABLE, (ENABLES, WIDENS, ClusterBy(TABLE, (), Stage.CLUSTERING_AGAIN)))
    run_before_write(engine.backend, plan, "model.x.t")
    assert engine.ran == plan.statements[:2]
    run_after_write(engine.backend, plan, "model.x.t")
    assert engine.ran == plan.statements


def test_the_property_is_unset_again_if_the_table_still_has_the_types_of_the_plan():
    engine = Engine(WIDENS)
    assert engine.failed_before_write(ENABLES, WIDENS).done == []
    assert engine.ran[-1] == UNSET


def test_a_rename_is_undone_with_the_property_and_a_failed_attempt_keeps_neither():
    renames, back = RenameColumn(TABLE, ("m",), "n"), RenameColumn(TABLE, ("n",), "m")
    engine = Engine(refused=WIDENS)
    failed = engine.failed_before_write(ENABLES, renames, WIDENS)
    assert engine.ran == [
        *(step.statement for step in (ENABLES, renames, WIDENS, back)),
        UNSET,
    ]
    assert failed.done == []


def test_after_a_conflict_a_rename_stays_and_the_next_attempt_goes_on_from_it():
    renames = RenameColumn(TABLE, ("m",), "n")
    failed = Engine(WIDENS, CONFLICT).failed_before_write(renames, WIDENS)
    assert failed.done == [renames]


@pytest.mark.parametrize(
    "described",
    [
        [("n", "bigint")],
        [("m", "int")],  # Another writer has renamed the column,
        [("n", "struct<x:int>")],  # or replaced it.
        DbtDatabaseError("[TABLE_OR_VIEW_NOT_FOUND] The table has been dropped."),
    ],
)
def test_nothing_is_undone_of_a_table_that_another_writer_has_changed(described):
    engine = Engine(WIDENS, described=described)
    assert engine.failed_before_write(ENABLES, WIDENS).done == [ENABLES]
    assert UNSET not in engine.ran


def test_after_a_conflict_the_property_stays_because_another_run_may_need_it():
    engine = Engine(WIDENS, CONFLICT)
    assert engine.failed_before_write(ENABLES, WIDENS).done == [ENABLES]
    assert UNSET not in engine.ran


@pytest.mark.parametrize("error", [FIRST, CONFLICT])
@pytest.mark.parametrize(
    ("refused", "done"), [(STOPS, []), (REWRITES, []), (WIDENS, [REWRITES]), (RESTORES, None)]
)
def test_the_settings_for_statistics_are_restored_once_they_were_changed(refused, done, error):
    engine = Engine(refused, error)
    failed = engine.failed_before_write(STOPS, REWRITES, WIDENS, RESTORES)
    restored = engine.ran.count(RESTORES.statement)
    # The last one is tried again.
    assert restored == (0 if refused is STOPS else 2 if refused is RESTORES else 1)
    assert failed.done == ([REWRITES, WIDENS] if done is None else done)


def test_what_could_not_be_undone_does_not_hide_the_first_error():
    engine = Engine(RESTORES)
    engine.failed_before_write(STOPS, RESTORES)


@pytest.mark.parametrize("appends", [True, False])
def test_the_error_of_a_step_after_the_write_says_that_the_rows_are_written(appends: bool):
    clusters = ClusterBy(TABLE, (("n",),), Stage.CLUSTERING_AGAIN)
    plan = Plan(TABLE, (clusters,))
    with pytest.raises(SchemaChangeFailed) as failed:
        run_after_write(Engine(clusters).backend, plan, "model.x.t", appends)
    # Another run would append the rows again.
    by_hand = f"would repeat them. Run this by hand instead: {clusters.statement}"
    assert (by_hand in failed.value.msg) is appends
    assert f"The rows were written to {TABLE}" in failed.value.msg
    assert f"{clusters.statement}\n{FIRST.msg}" in failed.value.msg


def test_a_clustering_that_no_model_has_is_to_be_restored_by_hand():
    clusters = ClusterByHand(TABLE, (("n",),), Stage.CLUSTERING_AGAIN)
    with pytest.raises(SchemaChangeFailed) as failed:
        run_after_write(Engine(clusters).backend, Plan(TABLE, (clusters,)), "model.x.t")
    assert f"no later run will do it. Run it by hand: {clusters.statement}" in failed.value.msg


def test_all_steps_that_have_not_run_after_the_write_are_named_with_what_does_them():
    fills = BackfillColumns(TABLE, ("n",), ("id",), "merge x")
    done = StillWaiting(TABLE)
    drops = DropColumns(TABLE, (FieldDifference(("gone",), StructField("gone", LongType())),))
    plan = Plan(TABLE, (ClusterBy(TABLE, (), Stage.BACKFILL), fills, done, drops))
    with pytest.raises(SchemaChangeFailed) as failed:
        run_after_write(Engine(fills).backend, plan, "model.x.t.v2", True)
    arguments = """'{"models": ["t.v2"], "columns": ["n"], "where": "`n` is null"}'"""
    command = f"dbt run-operation backfill_columns --args {arguments}"
    by_hand = f"{command}; {done.statement}; {drops.statement}"
    assert failed.value.msg.endswith(f"Run this by hand instead: {by_hand}")
