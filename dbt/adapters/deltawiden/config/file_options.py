"""Find the ``options`` of a text or ORC table that can change its values, and are not checked."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.config.model import file_format_of
from dbt.adapters.deltawiden.config.policy import OnLossyWrite, read_policy

_COMPRESSION = frozenset({"compression", "codec"})
_SAFE_OPTIONS = {
    "csv": _COMPRESSION | {"header", "sep", "delimiter"},
    "json": _COMPRESSION,
    "orc": _COMPRESSION | {"orc.compress", "mergeschema"},
    "text": _COMPRESSION,
}
CHECKED_FORMATS = frozenset(_SAFE_OPTIONS)
"""The values of ``file_format`` that do not store every value."""

# Spark drops a line of blanks, which is a row of nulls between blanks. It finds the end of a value
# at the wrong place in a separator of two characters.
_SEPARATOR = " (one visible character that is no quote and no backslash)"
_SAFE_SEPARATOR = re.compile(r"""[^\s\x00-\x20"'\\]""")


def option_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Find options with which the checks of a file format do not know what Spark reads back."""
    safe = _SAFE_OPTIONS.get(file_format := file_format_of(config))
    is_written = config.get("materialized") in ("table", "incremental")
    accepts_loss = read_policy(config).on_lossy_write is not OnLossyWrite.ERROR
    if safe is None or not is_written or accepts_loss:
        return
    for name, value in (config.get("options") or {}).items():
        is_separator = name.lower() in ("sep", "delimiter")
        is_safe = not is_separator or _SAFE_SEPARATOR.fullmatch(str(value))
        if not (name.lower() in safe and is_safe):
            yield (
                f"options: {name} is {value!r}, with which {file_format} can store other values "
                "than the model's. The check of its values knows only these options: "
                f"{', '.join(sorted(safe))}{_SEPARATOR if 'sep' in safe else ''}. Remove the "
                "option, use another file_format, such as delta or parquet, or set "
                "on_lossy_write: ignore to write such values all the same."
            )
