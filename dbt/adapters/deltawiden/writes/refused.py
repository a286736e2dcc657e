"""The error of a plan that is refused, and what pre-hooks have done before an error."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan

_NOTHING_WRITTEN = re.compile("nothing was (?:changed|written)", re.IGNORECASE)
_HOOKS_RAN = "The pre-hooks had run before. What they deleted or changed is not undone."
_SETS = re.compile(r"\s*set\s", re.IGNORECASE)


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


def say_that_hooks_ran(error: BaseException, pre_hooks: Iterable[Mapping[str, Any]]) -> None:
    """Add to an error that nothing was written that pre-hooks can have written before."""
    if not isinstance(error, DbtRuntimeError) or all(_SETS.match(h["sql"]) for h in pre_hooks):
        return
    if _NOTHING_WRITTEN.search(str(error.msg)):
        error.msg = f"{error.msg}\n{_HOOKS_RAN}"
