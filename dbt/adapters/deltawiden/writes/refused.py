"""The error of a plan that is refused."""

from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan


class SchemaChangeRefused(CompilationError):
    """The table can't take the model's output, or the requested types. Nothing was changed.

    It is a compilation error, as dbt's own refusal under ``on_schema_change: fail`` is.
    """


def require_not_refused(plan: Plan, wanted: str = "take the model's output") -> Plan:
    """Return a plan that is not refused.

    Args:
        wanted: what the table can't do if the plan is refused, for the message.

    Raises:
        SchemaChangeRefused: the plan is refused. All refusals are in the message.
    """
    if plan.refusals:
        raise SchemaChangeRefused(report.refusals_text(plan, wanted))
    return plan
