"""Read the duration that the profile's ``keep_alive`` has."""

import re
from typing import Any

from dbt_common.exceptions import DbtConfigError

_DURATION = re.compile(r"([1-9]\d*)\s*([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def read_duration(value: Any) -> int:
    """Read ``keep_alive`` in seconds. A DbtConfigError says what is accepted."""
    match = _DURATION.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    if match is None:
        raise DbtConfigError(
            f"The profile's keep_alive is {value!r}; accepted is a whole number greater than zero "
            "with a unit: 900s, 15m or 1h. Without keep_alive, Spark ends with dbt"
        )
    return int(match[1]) * _SECONDS[match[2]]
