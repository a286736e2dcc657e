"""``check_type_widening``: what a deployment will do to the tables of another schema."""

from dbt.adapters.deltawiden.config.policy import OnLossyWrite, Policy
from dbt.adapters.deltawiden.operations.result import OperationResult
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan


def check_result(model: str, plan: Plan, policy: Policy) -> OperationResult:
    """Tell what a model's next run will do to its table.

    Args:
        model: the model's name.
        plan: the plan of that run, not refused.
        policy: the model's configuration.

    Returns:
        The result.
    """
    told = plan.lossy and policy.on_lossy_write is not OnLossyWrite.IGNORE
    lossy = report.lossy_text(plan, policy.on_lossy_write) if told else ""
    return OperationResult(
        model,
        shown={
            "what will run": "; ".join(plan.statements) or "nothing",
            "not stored exactly": lossy,
        },
        values={
            "statements": plan.statements,
            "type_changes": [each.value for each in plan.changes],
            "new": [list(each.path) for each in plan.new],
            "dropped": [list(each.path) for each in plan.dropped],
            "not_stored_exactly": [list(each.path) for each in plan.lossy],
        },
    )


def new_table_result(model: str) -> OperationResult:
    """Tell that a model has no table yet where it will be deployed."""
    shown = {"what will run": "nothing: the table is new", "not stored exactly": ""}
    return OperationResult(model, shown, {"new_table": True})
