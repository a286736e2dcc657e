"""PySpark, and so dbt-spark, returns times in the zone of its process."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def process_zone(zone: str) -> Iterator[None]:
    """Set the time zone of the process."""
    try:
        with patch.dict(os.environ, TZ=zone):
            time.tzset()
            yield
    finally:
        time.tzset()
