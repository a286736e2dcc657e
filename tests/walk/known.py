"""Defects that are known and not mended yet, so that the walk finds new ones.

Remove an entry when what it tells of is mended: the walk then fails wherever it is not.
"""

from collections.abc import Callable

from tests.walk.judge import Step, Violation


def _raw_error_of_an_accepted_loss(step: Step, violation: Violation) -> bool:
    """Where a loss is accepted, what can not be cast at all ends with the engine's own error."""
    of_error = violation.kind in ("unclear error", "error names no column")
    conditions = ("TASK_WRITE_FAILED", "DUPLICATED_MAP_KEY", "CAST_OVERFLOW", "CAST_WITHOUT")
    told = any(condition in violation.told for condition in conditions)
    return of_error and step.settings.accepts_loss and told


KNOWN: dict[str, Callable[[Step, Violation], bool]] = {
    "a raw error where a loss is accepted": _raw_error_of_an_accepted_loss,
}


def known_defect(step: Step, violation: Violation) -> str | None:
    """Name the known defect that a violation is, or None."""
    return next((name for name, is_it in KNOWN.items() if is_it(step, violation)), None)
