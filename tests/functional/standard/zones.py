"""PySpark gives times in the zone of its process, whatever the zone of the session."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def process_zone(zone: str) -> Iterator[None]:
    """Let the process be in a time zone."""
    with patch.dict(os.environ, TZ=zone):
        time.tzset()
        yield
    time.tzset()
