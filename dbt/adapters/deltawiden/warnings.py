"""Warn once a run, however many nodes or connections have a reason."""

from threading import Lock

from dbt.adapters.events.types import AdapterEventWarning
from dbt_common.events.functions import warn_or_error
from dbt_common.invocation import get_invocation_id

from dbt.adapters.deltawiden.log import logger

_warned: set[tuple[str, str]] = set()
_one_at_a_time = Lock()


def warn_once(text: str, where: str = "", is_late: bool = False) -> None:
    """Warn, unless this run has already given the same warning.

    Args:
        where: what the first warning also names.
        is_late: whether rows are written already. ``--warn-error`` then makes no error: a second
            run of an ``append`` model would repeat the rows.

    Raises:
        EventCompilationError: ``--warn-error`` makes errors of warnings. It is raised each time, so
            that no second node goes on.
    """
    with _one_at_a_time:
        if (get_invocation_id(), text) not in _warned:
            message = f"{where}: {text}" if where else text
            if is_late:
                logger.warning(message)
            else:
                warn_or_error(AdapterEventWarning(name="DeltaWiden", base_msg=message))
            _warned.add((get_invocation_id(), text))
