"""Let a log of dbt that can't be written say so once.

On a full disk, Python's logging prints a traceback for each line, so that nobody finds the error of
the run among them.
"""

import logging
import sys
from functools import partial

from dbt_common.events.event_manager_client import get_event_manager

_reported: set[int] = set()


def report_log_errors_once() -> None:
    """Let the logs that dbt has opened report each kind of error once."""
    for event_logger in get_event_manager().loggers:
        python_logger: logging.Logger | None = getattr(event_logger, "_python_logger", None)
        for handler in python_logger.handlers if python_logger is not None else ():
            handler.handleError = partial(_report_once, handler)  # type: ignore[method-assign]


def _report_once(handler: logging.Handler, record: logging.LogRecord) -> None:
    error = sys.exc_info()[1]
    if not isinstance(error, OSError):
        logging.Handler.handleError(handler, record)
    elif error.errno is not None and error.errno not in _reported:
        _reported.add(error.errno)
        file = getattr(handler, "baseFilename", "a stream")
        print(f"dbt can't write its log ({file}): {error.strerror}.", file=sys.stderr)
