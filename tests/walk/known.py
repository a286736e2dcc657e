"""Known defects that are not fixed yet, so that the walk finds new ones.

Remove an entry when its defect is fixed. The walk then fails if the defect is still there.
"""

from collections.abc import Callable

from tests.walk.judge import Step, Violation


def _raw_error_of_an_accepted_loss(step: Step, violation: Violation) -> bool:
    """If a loss is accepted, a value that can't be cast ends with the engine's error."""
    of_error = violation.kind in ("unclear error", "error names no column")
    conditions = ("TASK_WRITE_FAILED", "DUPLICATED_MAP_KEY", "CAST_OVERFLOW", "CAST_WITHOUT")
    is_known = any(condition in violation.details for condition in conditions)
    return of_error and step.settings.accepts_loss and is_known


KNOWN: dict[str, Callable[[Step, Violation], bool]] = {
    "a raw error where a loss is accepted": _raw_error_of_an_accepted_loss,
}


def known_defect(step: Step, violation: Violation) -> str | None:
    """Return the name of the known defect of a violation, or None."""
    return next((name for name, is_it in KNOWN.items() if is_it(step, violation)), None)
