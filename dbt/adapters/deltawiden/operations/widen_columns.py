"""``widen_columns``: the type changes that only a person may ask for."""

from dbt.adapters.deltawiden.operations.result import OperationResult
from dbt.adapters.deltawiden.widening.plan import Plan


def widen_result(plan: Plan, dry_run: bool) -> OperationResult:
    """Tell what a plan by hand did to its table, or would do.

    Args:
        plan: a plan that is not refused.
        dry_run: whether its statements did not run.

    Returns:
        The result.
    """
    # Those of an earlier attempt too, which another writer has stopped.
    made = (*plan.applied_by_earlier_attempts, *plan.changes)
    changes = ", ".join(each.text for each in made)
    result = "has these types already"
    if made or plan.statements:
        result = "widened" + (", the table's files written anew" if plan.before_changes else "")
    if dry_run and plan.statements:
        result = "dry run: " + "; ".join(plan.statements)
    return OperationResult(
        plan.table,
        shown={"type changes": changes or "-", "result": result},
        values={
            "type_changes": [each.value for each in made],
            "statements": plan.statements,
            "dry_run": dry_run,
        },
    )
