"""Find the nodes of dbt that can have stored the text or a hash of a column that is wider now.

The text of the decimal 1.25 is 1.2500 in a wider column. A key that is made of it then matches no
row from before, although the key's own type is the same.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql.types import DateType, DecimalType, NullType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import path_text
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.blockers import changes_text

_MAKES_TEXT = re.compile(
    r"string|char\(|md5|sha\d*\(|hash|concat|format|_key\(|\|\|", re.IGNORECASE
)
# dbt.hash is a hash of the text.
_HASHES_VALUE = re.compile(r"(?<!\w)(?<!dbt\.)(?:hash|xxhash64)\s*\(", re.IGNORECASE)


def text_readers(
    graph: Mapping[str, Any], unique_id: str, changes: Sequence[TypeChange]
) -> Iterator[tuple[Mapping[str, Any], list[str], list[str]]]:
    """Yield the nodes after a table that keep rows, what changes for them, and remedies.

    They have the name of a column whose texts or hashes change in their code, or a view or table
    between has it and makes a text. What they make of the column is not known.
    """
    nodes = nodes_after(unique_id, graph) if changes else {}
    found: dict[str, dict[TypeChange, str]] = {each: {} for each in nodes}
    for each, node in nodes.items():
        config = node.get("config") or {}
        keys = [config.get(key) for key in ("unique_key", "partition_by", "check_cols")]
        code = f"{node.get('compiled_code') or node.get('raw_code')} {keys}"
        used = {change: what for change in changes if (what := _what_changes(change, code))}
        passes_on = used and not keeps_rows(node) and _MAKES_TEXT.search(code)
        for reader in (each, *(nodes_after(each, graph) if passes_on else ())):
            found[reader].update(used)
    for node, used in zip(nodes.values(), found.values(), strict=True):
        if used and keeps_rows(node):
            casts = ", ".join(f"{path_text(c.path)} to {type_text(c.from_type)}" for c in used)
            do = [f"before it runs, cast {casts} where the key is made, if the new values fit"]
            if node["resource_type"] == "model":
                do.append(f"dbt run --full-refresh --select {node['name']}")
            yield node, [f"{change.text}, so {what}" for change, what in used.items()], do


def nodes_after(unique_id: str, graph: Mapping[str, Any]) -> dict[str, Any]:
    """Return the nodes and functions that read a node, directly or through others, by unique id."""
    nodes = {**graph.get("nodes", {}), **graph.get("functions", {})}
    readers: dict[str, list[str]] = {}
    for reader, node in nodes.items():
        for parent in (node.get("depends_on") or {}).get("nodes", ()):
            readers.setdefault(parent, []).append(reader)
    found, left = set[str](), [unique_id]
    while left:
        new = set(readers.get(left.pop(), ())) - found
        found |= new
        left += new
    return {each: nodes[each] for each in sorted(found)}


def keeps_rows(node: Mapping[str, Any]) -> bool:
    """Return whether the rows of a model or snapshot stay in its table from run to run."""
    made_again = (node.get("config") or {}).get("materialized") in ("view", "table", "ephemeral")
    return node.get("resource_type") in ("model", "snapshot") and not made_again


def _what_changes(change: TypeChange, code: str) -> str:
    """Return what is different about the values of a column for a code, or an empty text."""
    before, after = change.from_type, change.to_type
    names = "|".join(map(re.escape, {change.path[0], change.path[-1]}))
    is_named = re.search(rf"(?<!\w)(?:{names})(?!\w)", code, re.IGNORECASE)
    if isinstance(before, NullType) or not is_named:
        return ""
    if not changes_text(change):
        # Measured on Spark 4.1: those of int and bigint differ, and those of 18 and 19 digits.
        other = "hash and xxhash64 of a value can be other numbers"
        return other if _HASHES_VALUE.search(code) else ""
    old, new = "0.1", "0.10000000149011612"
    if isinstance(before, DateType):
        old, new = "2024-01-01", "2024-01-01 00:00:00"
    elif isinstance(before, DecimalType) and isinstance(after, DecimalType):
        old, new = (f"{1:.{each.scale}f}" for each in (before, after))
    return f"the text {old} is now {new}"
