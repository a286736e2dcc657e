"""Find the ``options`` of a text or ORC table that can change its values, and are not checked."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.config.model import file_format_of
from dbt.adapters.deltawiden.config.policy import OnLossyWrite, read_policy

_COMPRESSION = frozenset({"compression", "codec"})
# For a table, whose types are known, Spark takes no sample of the values.
_READS = frozenset({"mode", "multiline", "samplingratio"})
_SAFE_OPTIONS = {
    "csv": _COMPRESSION
    | _READS
    | {"header", "sep", "delimiter", "encoding", "charset"}
    | {"inferschema", "enforceschema", "nullvalue"},
    "json": _COMPRESSION | _READS,
    "orc": _COMPRESSION
    | {"orc.compress", "mergeschema", "orc.stripe.size", "orc.row.index.stride"}
    | {"orc.dictionary.key.threshold", "orc.column.encoding.direct"}
    | {"orc.bloom.filter.columns", "orc.bloom.filter.fpp"},
    "text": _COMPRESSION,
}
CHECKED_FORMATS = frozenset(_SAFE_OPTIONS)
"""The values of ``file_format`` that do not store every value."""

_VALUES = (
    " (a separator: one visible character, no quote and no backslash; an encoding: UTF-8; "
    "enforceschema, mode, multiline, nullvalue: the value that Spark has without them)"
)
# Spark drops a line of blanks, which is a row of nulls between blanks. Between texts that end or
# start with a character of a longer separator, it finds the separator at the wrong place.
_SAFE_SEPARATOR = re.compile(r"""[^\s\x00-\x20"'\\]""")
_SAFE_VALUES = {
    **dict.fromkeys(("sep", "delimiter"), _SAFE_SEPARATOR),
    **dict.fromkeys(("encoding", "charset"), re.compile("utf-?8", re.IGNORECASE)),
    # Spark's defaults.
    "mode": re.compile("permissive", re.IGNORECASE),
    "multiline": re.compile("false", re.IGNORECASE),
    "enforceschema": re.compile("true", re.IGNORECASE),
    "nullvalue": re.compile(""),
}

# Of every other format. Spark takes them from the table, and not from the session.
_LOSSY_OPTIONS = {
    **dict.fromkeys(("ignorecorruptfiles", "ignoremissingfiles"), re.compile("true", re.I)),
    **dict.fromkeys(("modifiedafter", "modifiedbefore", "pathglobfilter"), re.compile(".*", re.S)),
    "mapreduce.fileoutputcommitter.algorithm.version": re.compile("2"),
}

# The last properties in the description of a table, as SHOW TABLE EXTENDED has it.
_STORED = re.compile(r"^Storage Properties: \[(.*)\]", re.MULTILINE)
_STORED_OPTION = re.compile(r"(?:^|, )([\w.]+)=(.*?)(?=, [\w.]+=|$)")
_OF_THE_METASTORE = ("path", "serialization.format")


def option_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Find options of a model with which it is not known what Spark reads from its files."""
    # A snapshot can have none of these formats.
    is_written = config.get("materialized") in ("table", "incremental")
    if is_written and read_policy(config).on_lossy_write is OnLossyWrite.ERROR:
        options = config.get("options") or {}
        file_format = file_format_of(config)
        other = "use another file_format, such as delta or parquet, "
        remedy = (
            f"Remove the option, {other if file_format in CHECKED_FORMATS else ''}or set "
            "on_lossy_write: ignore to write such values all the same."
        )
        yield from unsafe_options(file_format, options, remedy)


def stored_options(information: str) -> dict[str, str]:
    """Return the options that a table was created with, from its description."""
    stored = "".join(_STORED.findall(information)[-1:])
    options: dict[str, str] = dict(_STORED_OPTION.findall(stored))
    return {name: options[name] for name in options if name not in _OF_THE_METASTORE}


def unsafe_options(file_format: str, options: Mapping[str, Any], remedy: str) -> Iterator[str]:
    """Find options with which the check of a file format does not know what Spark reads back."""
    safe = _SAFE_OPTIONS.get(file_format)
    if safe is None:
        yield from _lossy_options(options, remedy)
        return
    for name, value in options.items():
        accepted = _SAFE_VALUES.get(name.lower())
        is_safe = accepted is None or accepted.fullmatch(str(value))
        if not (name.lower() in safe and is_safe):
            # Without the value, which can be a secret.
            yield (
                f"options: the check of the values of {file_format} does not know what {name} "
                f"does. It knows only these options: {', '.join(sorted(safe))}"
                f"{_VALUES if 'sep' in safe else ''}. {remedy}"
            )


def _lossy_options(options: Mapping[str, Any], remedy: str) -> Iterator[str]:
    """Find options of a table with which rows of it can be missing, or be there twice."""
    for name, value in options.items():
        lossy = _LOSSY_OPTIONS.get(name.lower())
        if lossy is not None and lossy.fullmatch(str(value).strip()):
            text = f"options: with {name}, rows of the table can be missing, or be there twice"
            yield f"{text}. {remedy}"
