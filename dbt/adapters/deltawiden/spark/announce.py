"""Say what happens while Spark starts."""

import contextlib
import threading
from collections.abc import Iterator
from contextvars import copy_context

from dbt.adapters.deltawiden.log import logger

_SECONDS = 5


@contextlib.contextmanager
def announced(text: str) -> Iterator[None]:
    """Log a line if the block takes longer than five seconds."""
    # dbt's log events read the context.
    timer = threading.Timer(_SECONDS, copy_context().run, (logger.info, text))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
