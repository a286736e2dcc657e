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

_SEPARATOR = " (one visible character that is no quote and no backslash)"
# Spark drops a line of blanks, which is a row of nulls between blanks. Between texts that end or
# start with a character of a longer separator, it finds the separator at the wrong place.
_SAFE_SEPARATOR = re.compile(r"""[^\s\x00-\x20"'\\]""")

# The last properties in the description of a table, as SHOW TABLE EXTENDED has it.
_STORED = re.compile(r"^Storage Properties: \[(.*)\]", re.MULTILINE)
_STORED_OPTION = re.compile(r"(?:^|, )([\w.]+)=(.*?)(?=, [\w.]+=|$)")
_OF_THE_METASTORE = ("path", "serialization.format")


def option_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Find options of a model with which it is not known what Spark reads from its files."""
    is_written = config.get("materialized") in ("table", "incremental")
    if is_written and read_policy(config).on_lossy_write is OnLossyWrite.ERROR:
        options = config.get("options") or {}
        yield from unsafe_options(file_format_of(config), options, "Remove the option")


def stored_options(information: str) -> dict[str, str]:
    """Return the options that a table has since it was created, from its description."""
    stored = "".join(_STORED.findall(information)[-1:])
    options: dict[str, str] = dict(_STORED_OPTION.findall(stored))
    return {name: options[name] for name in options if name not in _OF_THE_METASTORE}


def unsafe_options(file_format: str, options: Mapping[str, Any], remedy: str) -> Iterator[str]:
    """Find options with which the check of a file format does not know what Spark reads back."""
    safe = _SAFE_OPTIONS.get(file_format, frozenset())
    for name, value in options.items() if safe else ():
        is_separator = name.lower() in ("sep", "delimiter")
        is_safe = not is_separator or _SAFE_SEPARATOR.fullmatch(str(value))
        if not (name.lower() in safe and is_safe):
            yield (
                f"options: {name} is {value!r}, with which {file_format} can store other values "
                "than the model's. The check of its values knows only these options: "
                f"{', '.join(sorted(safe))}{_SEPARATOR if 'sep' in safe else ''}. {remedy}, use "
                "another file_format, such as delta or parquet, or set on_lossy_write: ignore to "
                "write such values all the same."
            )
