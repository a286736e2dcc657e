"""Read the file format of a node."""

from collections.abc import Mapping
from typing import Any

DELTA = "delta"


def file_format_of(config: Mapping[str, Any]) -> str:
    """Return the file format of a node, in lower case: Spark ignores the case of such a name."""
    return str(config.get("file_format") or DELTA).lower()
