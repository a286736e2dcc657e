"""Find the nodes of dbt that can have stored the text or a hash of a column that is wider now.

The text of the decimal 1.25 is 1.2500 in a wider column. A key that is made of it then matches no
row from before, although the key's own type is the same.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql.types import DateType, DecimalType, DoubleType, FloatType, NullType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import path_text
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.blockers import changes_text

_MAKES_TEXT = re.compile(
    r"string|md5|hash|concat|format|\|\||"
    r"(?:char|sha\d*|_key|_json|_csv|_join|replace|trim|pad|base64|crc32|lower|upper)\s*\(",
    re.IGNORECASE,
)
# dbt.hash is a hash of the text.
_HASHES_VALUE = re.compile(r"(?<!\w)(?<!dbt\.)(?:hash|xxhash64)\s*\(", re.IGNORECASE)
# All columns as arguments of a function, but not the rows of a count.
_ALL_COLUMNS = re.compile(r"(?<!count)\((?:[^()]*,)?\s*(?:\w+\.)?\*\s*\)", re.IGNORECASE)


def text_readers(
    nodes: Mapping[str, Any], changes: Sequence[TypeChange]
) -> Iterator[tuple[Mapping[str, Any], list[str], list[str]]]:
    """Yield those of ``nodes_after`` a table that keep rows, what changes for them, and remedies.

    Their code, or that of a view or table between, has the name of a column whose text or hash
    changes, and makes a text or a hash. Whether it does so of this column is not known.
    """
    found = {each: _used(node, changes) for each, node in nodes.items()}
    readers = _readers(nodes)
    left = [each for each, node in nodes.items() if found[each] and not keeps_rows(node)]
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


def nodes_after(unique_id: str, graph: Mapping[str, Any]) -> dict[str, Any]:
    """Return the nodes and functions that read a node, directly or through others, by unique id."""
    nodes = {**graph.get("nodes", {}), **graph.get("functions", {})}
    readers = _readers(nodes)
    found, left = set[str](), [unique_id]
    while left:
        new = set(readers.get(left.pop(), ())) - found
        found |= new
        left += new
    return {each: nodes[each] for each in sorted(found)}


def _readers(nodes: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the unique ids of the nodes that read each node."""
    readers: dict[str, list[str]] = {}
    for reader, node in nodes.items():
        for parent in (node.get("depends_on") or {}).get("nodes", ()):
            readers.setdefault(parent, []).append(reader)
    return readers


def keeps_rows(node: Mapping[str, Any]) -> bool:
    """Return whether the rows of a model or snapshot stay in its table from run to run."""
    made_again = (node.get("config") or {}).get("materialized") in ("view", "table", "ephemeral")
    return node.get("resource_type") in ("model", "snapshot") and not made_again


def _used(node: Mapping[str, Any], changes: Iterable[TypeChange]) -> dict[TypeChange, str]:
    """Return the changes that a node can make another text or hash of, and what is different."""
    config = node.get("config") or {}
    keys = [config.get(key) for key in ("unique_key", "partition_by")]
    code = f"{node.get('compiled_code') or node.get('raw_code')} {keys}"
    return {change: what for change in changes if (what := _what_changes(change, code))}


def _what_changes(change: TypeChange, code: str) -> str:
    """Return what is different about the values of a column for a code, or an empty text."""
    names = "|".join(map(re.escape, {change.path[0], change.path[-1]}))
    is_named = re.search(rf"(?<!\w)(?:{names})(?!\w)", code, re.IGNORECASE)
    if isinstance(change.from_type, NullType) or not (is_named or _ALL_COLUMNS.search(code)):
        return ""
    if changes_text(change) and _MAKES_TEXT.search(code):
        old, new = _example(change)
        return f"the text {old} is now {new}"
    # Measured on Spark 4.1: those of int and bigint differ, and those of 18 and 19 digits.
    hashes = _HASHES_VALUE.search(code)
    return "hash and xxhash64 of a value can be other numbers" if hashes else ""


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
