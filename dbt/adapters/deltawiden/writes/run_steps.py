"""Run the steps of a plan before and after a write, and undo those that must not stay."""

from collections.abc import Sequence
from functools import cache, partial

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.conflicts import is_conflict, retry_same_commit
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.widening.backfill import BackfillColumns
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.report import backfill_command
from dbt.adapters.deltawiden.widening.request import NoSuchLeaf, find_leaf
from dbt.adapters.deltawiden.widening.steps import Step
from dbt.adapters.deltawiden.writes.attempts import SchemaChangeFailed
from dbt.adapters.deltawiden.writes.optimize_after_run import ROWS_WRITTEN


def change_table(backend: SqlBackend, plan: Plan, table: SparkRelation, changed_by: str) -> None:
    """Run the steps before the write: ``run_before_write``. This session sees the changes."""
    run_before_write(backend, plan, changed_by)
    if plan.before and not table.is_delta:
        # Spark and Iceberg cache what they have read of such a table, its columns included.
        backend.execute(f"refresh table {table}")


def run_before_write(backend: SqlBackend, plan: Plan, changed_by: str) -> None:
    """Run the statements of a plan that come before the write.

    Args:
        plan: a plan that is not refused.
        changed_by: the unique id of the model, or the name of the operation. The commits have it in
            the table's history.

    Raises:
        SchemaChangeFailed: the engine refused a statement. A property that was turned on for the
            type changes is turned off again.
    """
    if not plan.before:
        return
    done: list[Step] = []
    try:
        with backend.tagged_commits(changed_by):
            for step in plan.before:
                step.run(backend)
                done.append(step)
    except DbtRuntimeError as error:
        undone = _undo(backend, plan, done, error)
        stays = [step for step in done if step not in undone]
        raise SchemaChangeFailed(error.msg, stays) from error


def run_after_write(
    backend: SqlBackend, plan: Plan, changed_by: str, appends: bool = False
) -> None:
    """Run the statements of a plan that come after the write has succeeded.

    Args:
        appends: whether another run of the model would write the same rows again.

    Raises:
        SchemaChangeFailed: the engine refused a statement. The rows are written all the same.
    """
    for number, step in enumerate(plan.after):
        try:
            with backend.tagged_commits(changed_by):
                retry_same_commit(partial(step.run, backend))
        except DbtRuntimeError as error:
            then = "the next run will do it"
            if not step.is_repeated:
                then = "no later run will do it. Run it by hand"
            text = (
                f"The rows were written to {plan.table}, but this failed after it, and {then}: "
                f"{step.statement}\n{error.msg}"
            )
            if appends:
                left = "; ".join(_by_hand(each, changed_by) for each in plan.after[number:])
                text += f"\n{ROWS_WRITTEN} Run this by hand instead: {left}"
            raise SchemaChangeFailed(text) from error


def undo(backend: SqlBackend, plan: Plan, error: DbtRuntimeError, changed_by: str) -> None:
    """Undo the steps of a plan that has run, after an error before the write."""
    with backend.tagged_commits(changed_by):
        _undo(backend, plan, plan.before, error)


def _undo(
    backend: SqlBackend, plan: Plan, done: Sequence[Step], error: DbtRuntimeError
) -> list[Step]:
    """Undo the steps that must not stay, the last one first. Return them."""
    undone = []
    # Once: the first step that is undone can be a rename, which the plan's paths need.
    may_be_needed = cache(partial(_may_be_needed, backend, plan, error))
    for step in reversed(done):
        steps = [each for each in step.undo(done) if each not in done]
        if not steps or (step.is_goal and may_be_needed()):
            continue
        for each in steps:
            try:
                each.run(backend)
            except DbtRuntimeError as failed:
                logger.warning(f"Could not take back a change of {plan.table}: {failed}")
        undone.append(step)
    return undone


def _may_be_needed(backend: SqlBackend, plan: Plan, error: DbtRuntimeError) -> bool:
    """Return whether another run may need what this one has set: it may have changed a type."""
    if is_conflict(error):
        return True
    try:
        now = backend.query_schema(f"select * from {plan.table}")
        return any(find_leaf(change.path, now)[1] != change.from_type for change in plan.changes)
    except (DbtRuntimeError, NoSuchLeaf) as failed:
        logger.debug(f"The types of {plan.table} are not those of the plan: {failed}")
        return True


def _by_hand(step: Step, model: str) -> str:
    """Return what does a step by hand, for the model with a unique id."""
    if isinstance(step, BackfillColumns):
        return backfill_command(model.split(".", 2)[2], step.names)
    return step.statement
