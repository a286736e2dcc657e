"""Warn once a run, however many nodes or connections have a reason."""

from threading import Lock
from typing import Any

from dbt.adapters.events.types import AdapterEventWarning
from dbt.events.types import JinjaLogWarning
from dbt_common.events.functions import warn_or_error
from dbt_common.exceptions import EventCompilationError
from dbt_common.invocation import get_invocation_id

from dbt.adapters.deltawiden.log import logger

_warned: set[tuple[str, str]] = set()
_one_at_a_time = Lock()


def warn_once(text: str, where: str = "") -> None:
    """Warn, unless this run has already given the same warning.

    Args:
        where: what the first warning also names.

    Raises:
        EventCompilationError: ``--warn-error`` makes errors of warnings. It is raised each time, so
            that no second node goes on.
    """
    message = f"{where}: {text}" if where else text
    _warn_once(text, AdapterEventWarning(name="DeltaWiden", base_msg=message))


def warn_as_macro(text: str, is_late: bool = False) -> None:
    """Warn once as a macro of dbt does: ``warn_error_options`` has it as ``JinjaLogWarning``.

    Args:
        is_late: whether rows are written already. ``--warn-error`` then makes no error: a second
            run of an ``append`` model would repeat the rows.

    Raises:
        EventCompilationError: as for ``warn_once``.
    """
    _warn_once(text, JinjaLogWarning(msg=text), is_late)


def _warn_once(text: str, event: Any, is_late: bool = False) -> None:
    with _one_at_a_time:
        if (get_invocation_id(), text) in _warned:
            return
        try:
            warn_or_error(event)
        except EventCompilationError:
            if not is_late:
                raise
            logger.warning(text)
        _warned.add((get_invocation_id(), text))
