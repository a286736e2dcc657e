"""Find the settings that hooks give a model's query. An operation runs no hooks."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.operations.selection import Node

_SETS = re.compile(
    r"\bset\s+(time\s+zone\b|`?spark\.sql\.(?:session\.timeZone|timestampType|ansi\.|caseSensitive|"
    r"decimalOperations|mapKeyDedupPolicy|legacy\.(?!create|allowNon|\S*InWrite))[\w.]*)",
    re.IGNORECASE,
)
"""Statements after which a query can return other values."""


def settings_in_hooks(node: Node, graph: Mapping[str, Any]) -> str:
    """Return what hooks that run before a model set so that its values can differ, for people."""
    found = (match[1] for text in _texts(node, graph) for match in _SETS.finditer(text))
    return ", ".join(dict.fromkeys(name.strip("`") for name in found))


def _texts(node: Node, graph: Mapping[str, Any]) -> Iterator[str]:
    for hook in node["config"].get("pre-hook") or ():
        yield str(hook["sql"])
    for each in graph["nodes"].values():
        if each["resource_type"] == "operation" and "on-run-start" in each["tags"]:
            yield str(each["raw_code"])
