"""PySpark returns times in the zone of its process, not in the zone of the session."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def process_zone(zone: str) -> Iterator[None]:
    """Set the time zone of the process."""
    with patch.dict(os.environ, TZ=zone):
        time.tzset()
        yield
    time.tzset()
