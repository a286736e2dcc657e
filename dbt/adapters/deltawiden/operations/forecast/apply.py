"""Run what the next run would do before it writes, so that any program finds wide enough tables."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.operations.forecast.downstream import READS, Forecast
from dbt.adapters.deltawiden.operations.forecast.model import TableChange, without_changes
from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner
from dbt.adapters.deltawiden.operations.result import OperationResult, attempt
from dbt.adapters.deltawiden.spark.errors import NOT_BUILT, condition
from dbt.adapters.deltawiden.widening.steps import Step
from dbt.adapters.deltawiden.writes.attempts import Attempts, is_cancelled, retry_with_new_plan
from dbt.adapters.deltawiden.writes.older_files import misread_after
from dbt.adapters.deltawiden.writes.run_steps import change_table


def apply_changes(forecast: Forecast, chosen: Collection[str]) -> None:
    """Run the steps that come before the write, in the order of a run. No row is written.

    Args:
        forecast: the forecast, after ``run``. Its results then say what was done.
        chosen: the unique ids of the nodes whose tables may be changed.
    """
    ordered = (str(node["unique_id"]) for node in forecast.graph.in_order())
    for unique_id in filter(forecast.results.__contains__, ordered):
        result = forecast.results[unique_id]
        why = _why_not(forecast, unique_id, chosen, result)
        if why:
            values = result.values if not result.error else {**without_changes(), **result.values}
            planned = replace(result, error="", values=values)
            forecast.results[unique_id] = _shown(planned, (), why)
        elif not result.error:
            change = forecast.changes[unique_id]
            work = partial(_apply, forecast.planner, unique_id, change, result)
            done = attempt(result.table, work)
            values = {**result.values, **done.values}
            failed = replace(result, error=done.error, values=values)
            forecast.results[unique_id] = failed if done.error else done


def _why_not(
    forecast: Forecast, unique_id: str, chosen: Collection[str], result: OperationResult
) -> str:
    """Return why nothing is done for a node; empty if its plan is applied, or is an error."""
    inputs = forecast.graph.inputs(forecast.graph.node(unique_id))
    nodes = map(forecast.graph.node, inputs)
    missing = [str(node["name"]) for node in nodes if forecast.planner.relation(node) is None]
    if result.error and not (missing and condition(result.error) == NOT_BUILT):
        return ""
    if unique_id not in chosen:
        return "it was not asked for"
    if missing:
        return f"it reads {', '.join(missing)}, which is not built yet"
    if unique_id in forecast.changes:
        return ""
    if result.values.get("takes_over"):
        return "the run first takes over the table in its folder"
    if result.values.get("skipped"):
        return "dbt skips it, because what it reads stops"
    return "it has no table" if result.values.get("new_table") else "each run makes it again"


def _apply(
    planner: NodePlanner, unique_id: str, change: TableChange, result: OperationResult
) -> OperationResult:
    backend, table = planner.backend, change.table

    def apply_once(attempts: Attempts) -> None:
        plan = change.decide(backend.table_schema(table))
        attempts.record_plan(plan)
        change_table(backend, plan, table, unique_id)

    attempts = Attempts()
    try:
        retry_with_new_plan(apply_once, attempts=attempts)
    except DbtRuntimeError as error:
        if is_cancelled(error) or not attempts.done:
            raise
        stays = {"applied": _statements(attempts.done)}
        return OperationResult(result.table, values=stays, error=attempts.error_text(error))
    plan = attempts.plan
    left = [step.statement for step in plan.after]
    if text := misread_after(backend, table, attempts.changes):
        left.append(text)
    values = {**result.values, "table": relation_sql(table)}
    applied = _statements((*attempts.done, *plan.before))
    return _shown(replace(result, values=values), applied, "nothing is left to do", left)


def _statements(steps: Iterable[Step]) -> list[str]:
    return list(dict.fromkeys(step.statement for step in steps))


def _shown(
    result: OperationResult, applied: Collection[str], why: str, left: Collection[str] = ()
) -> OperationResult:
    shown = {
        "applied": "; ".join(applied) or f"nothing: {why}",
        "not run": "; ".join(left),
        READS: result.shown.get(READS, ""),
    }
    values = {"applied": list(applied), "not_run": list(left), "reason": "" if applied else why}
    return replace(result, shown=shown, values={**result.values, **values})
