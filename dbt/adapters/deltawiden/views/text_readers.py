"""Find the nodes of dbt that can have stored the text or a hash of a column that is wider now.

The text of the decimal 1.25 is 1.2500 in a wider column. A key that is made of it then matches no
row from before, although the key's own type is the same.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pyspark.sql.types import (
    ByteType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    NullType,
    ShortType,
)

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import path_text
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.views.graph import direct_readers, keeps_rows
from dbt.adapters.deltawiden.widening.blockers import changes_text

# Functions of Spark, and macros such as dbt.type_string, generate_surrogate_key and hash_columns.
_MAKES_TEXT = re.compile(
    r"\|\||(?<!\w)(?:(?:string|StringType)(?!\w)|astype\(\s*str(?!\w)|(?:md5|sha\d*|crc32|base64"
    r"|\w+_(?:hash|key|string)|dbt\.hash|hash_\w+|concat(?:_ws)?|listagg"
    r"|(?:string|group)_agg|array_join|date_format|format_number|printf|to_(?:json|csv|xml)"
    r"|(?:to_)?(?:var)?char|(?:regexp_)?replace|translate|[lrb]?trim|[lr]pad|lower|upper|[lu]case"
    r"|initcap|substr(?:ing)?|left|right|split(?:_part)?)\s*\()",
    re.IGNORECASE,
)
# dbt.hash is a hash of the text.
_HASHES_VALUE = re.compile(r"(?<!\w)(?<!dbt\.)(?:hash|xxhash64)\s*\(", re.IGNORECASE)
_KEYS = ("unique_key", "partition_by")
_HASHED_AS_INT = (ByteType, ShortType, IntegerType)
_DIGITS_OF_LONG = 18
# All columns as arguments of a function, but not the rows of a count.
_ALL_COLUMNS = re.compile(r"(?:,|(?<!\w)(?!count\s*\()\w+\s*\()\s*(?:\w+\.)?\*\s*\)", re.IGNORECASE)
_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_COMMENT = r"--[^\n]*|#[^\n]*|/\*.*?\*/"
_TEXT_OR_COMMENT = re.compile(f"`[^`]*`|{_TEXT}|({_COMMENT})", re.DOTALL)
_ARGUMENTS = rf"\((?:{_TEXT}|[^()'\"])*\)"
for _ in range(3):
    _ARGUMENTS = rf"\((?:{_TEXT}|[^()'\"]|{_ARGUMENTS})*\)"
_NOT_OF_QUERY = re.compile(
    rf"\{{#.*?#\}}|(?:\{{[{{%]-?\s*(?:do\s+)?|(?<!\w)dbt\.)config\s*{_ARGUMENTS}", re.DOTALL
)


def text_readers(
    nodes: Mapping[str, Any], changes: Sequence[TypeChange]
) -> Iterator[tuple[Mapping[str, Any], list[str], list[str]]]:
    """Yield those of ``nodes_after`` a table that keep rows, what changes for them, and remedies.

    Their code, or that of a view or table between, has the name of a column whose text or hash
    changes, and makes a text or a hash. Whether it does so of this column is not known.
    """
    found = {each: _used(node, changes) for each, node in nodes.items()}
    left = [each for each, node in nodes.items() if found[each] and not keeps_rows(node)]
    readers = direct_readers(nodes) if left else {}
    while left:
        used = found[parent := left.pop()]
        for reader in readers.get(parent, ()):
            if used.keys() - found[reader].keys():
                found[reader] |= used
                left += () if keeps_rows(nodes[reader]) else (reader,)
    for node, used in zip(nodes.values(), found.values(), strict=True):
        if used and keeps_rows(node):
            details = [f"{change.text}, so {what}" for change, what in used.items()]
            yield node, details, _do(node, used)


def _do(node: Mapping[str, Any], changes: Iterable[TypeChange]) -> list[str]:
    casts = ", ".join(f"{path_text(c.path)} to {type_text(c.from_type)}" for c in changes)
    do = [f"before it runs, cast {casts} where the key is made, if the new values fit"]
    # A snapshot has no full refresh, and with `full_refresh: false` a model has none.
    if node["resource_type"] == "model" and node["config"].get("full_refresh") is not False:
        do.append(f"dbt run --full-refresh --select {node['name']}")
    return do


def _used(node: Mapping[str, Any], changes: Iterable[TypeChange]) -> dict[TypeChange, str]:
    """Return the changes that a node can make another text or hash of, and what is different."""
    config = node.get("config") or {}
    # A key can be an expression. One that is a column is no text because the query makes another.
    texts = (node.get("compiled_code") or node.get("raw_code"), *map(config.get, _KEYS))
    codes = [code for code in map(_read_code, map(str, texts)) if code.makes_text or code.hashes]
    found = ((change, _what_changes(change, code)) for change in changes for code in codes)
    return {change: what for change, what in found if what}


class _Code(NamedTuple):
    """The code of a node or of its key, and what it does to a column or to all of them."""

    query: str
    makes_text: bool
    hashes: bool
    has_all_columns: bool


@lru_cache(maxsize=4096)
def _read_code(code: str) -> _Code:
    """Read code without its calls of ``config`` and comments, which make no text.

    dbt has no compiled code of a node before it runs.
    """
    query = _NOT_OF_QUERY.sub(" ", code)
    query = _TEXT_OR_COMMENT.sub(lambda found: " " if found[1] else found[0], query)
    patterns = (_MAKES_TEXT, _HASHES_VALUE, _ALL_COLUMNS)
    return _Code(query, *(bool(pattern.search(query)) for pattern in patterns))


def _what_changes(change: TypeChange, code: _Code) -> str:
    """Return what is different about the values of a column for a code, or an empty text."""
    names = "|".join(map(re.escape, {change.path[0], change.path[-1]}))
    is_named = re.search(rf"(?<!\w)(?:{names})(?!\w)", code.query, re.IGNORECASE)
    if isinstance(change.from_type, NullType) or not (is_named or code.has_all_columns):
        return ""
    if code.makes_text and changes_text(change):
        old, new = _example(change)
        return f"the text {old} is now {new}"
    hashes = code.hashes and _changes_hash(change)
    return "hash and xxhash64 of a value can be other numbers" if hashes else ""


def _changes_hash(change: TypeChange) -> bool:
    """Return whether Spark's ``hash`` of a value is another number in the new type.

    Source:
        org.apache.spark.sql.catalyst.expressions.HashExpression: integers of up to 32 bits as int,
        and a decimal of up to 18 digits as the bigint without its point
    """
    before, after = change.from_type, change.to_type
    if isinstance(before, DecimalType) and isinstance(after, DecimalType):
        crosses = before.precision <= _DIGITS_OF_LONG < after.precision
        return crosses or before.scale != after.scale
    return not all(isinstance(each, _HASHED_AS_INT) for each in (before, after))


def _example(change: TypeChange) -> tuple[str, str]:
    """Return the text of a value, before and after the change."""
    before, after = change.from_type, change.to_type
    if isinstance(before, DateType):
        return "2024-01-01", "2024-01-01 00:00:00"
    if isinstance(before, FloatType):
        return "0.1", "0.10000000149011612"
    scales = (each.scale if isinstance(each, DecimalType) else 0 for each in (before, after))
    old, new = (f"{1:.{scale}f}" for scale in scales)
    return old, "1.0" if isinstance(after, DoubleType) else new
