"""``widen_columns``: make the type changes that only a person may ask for."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtBaseException

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    OperationResults,
    failed_attempts,
    log_progress,
    run_on_each,
    steps_text,
)
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_by_hand
from dbt.adapters.deltawiden.widening.request import InvalidRequest, read_request
from dbt.adapters.deltawiden.widening.steps import RewriteRows, Step
from dbt.adapters.deltawiden.writes.attempts import Attempts, is_cancelled, retry_with_new_plan
from dbt.adapters.deltawiden.writes.older_files import misread_after
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused, require_not_refused
from dbt.adapters.deltawiden.writes.run_steps import change_table
from dbt.adapters.deltawiden.writing.rows_kept import require_rows_kept

_NAME = "widen_columns"


def widen_columns(
    backend: SqlBackend, tables: Iterable[SparkRelation], columns: Mapping[str, str], dry_run: bool
) -> OperationResults:
    """Make the type changes that a person asks for. An error can leave some of a table's."""

    def widen(table: SparkRelation) -> OperationResult:
        if dry_run:
            plan = _plan(backend, table, columns)
            return _result(plan, plan.changes, plan.steps, dry_run)

        def widen_once(attempts: Attempts) -> None:
            plan = _plan(backend, table, columns)
            attempts.record_plan(plan)
            change_table(backend, plan, table, _NAME)

        attempts = Attempts()
        try:
            retry_with_new_plan(widen_once, attempts=attempts)
        except DbtBaseException as error:
            if is_cancelled(error) or not attempts.made:
                raise
            with suppress(DbtBaseException):
                _show_filters(backend, table, attempts.made)
            return failed_attempts(relation_sql(table), attempts, error)
        _show_filters(backend, table, attempts.changes)
        steps = (*attempts.done, *attempts.plan.steps)
        return _result(attempts.plan, attempts.changes, steps, dry_run)

    return run_on_each(_NAME, tables, relation_sql, widen)


def _show_filters(backend: SqlBackend, table: SparkRelation, changes: Iterable[TypeChange]) -> None:
    """Show what filters without dbt's settings can miss after the changes."""
    if text := misread_after(backend, table, changes):
        log_progress(f"{relation_sql(table)}: {text}")


def _plan(backend: SqlBackend, table: SparkRelation, columns: Mapping[str, str]) -> Plan:
    schema = backend.table_schema(table)
    try:
        requested = read_request(columns, schema)
    except InvalidRequest as error:
        raise SchemaChangeRefused(str(error)) from error
    plan = plan_by_hand(requested, backend.snapshot(table, schema))
    plan = require_not_refused(plan, wanted="get the requested types")
    if plan.copies_rows:
        require_rows_kept(backend, table, schema)
    return plan


def _result(
    plan: Plan, made: Sequence[TypeChange], steps: Sequence[Step], dry_run: bool
) -> OperationResult:
    changes = ", ".join(change.text for change in made)
    statements = [step.statement for step in steps]
    result = "has these types already"
    if made:
        rewritten = any(isinstance(step, RewriteRows) for step in steps)
        result = "widened" + (", the table's files were rewritten" if rewritten else "")
    elif steps:
        result += ", its settings of statistics are restored"
    if dry_run and steps:
        result = steps_text(statements, dry_run)
    return OperationResult(
        plan.table,
        shown={"type changes": changes or "-", "result": result},
        values={
            "type_changes": [change.value for change in made],
            "statements": statements,
            "dry_run": dry_run,
        },
    )
