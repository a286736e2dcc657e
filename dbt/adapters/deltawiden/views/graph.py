"""dbt's graph: what a node is, and which nodes and functions read it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dbt.adapters.deltawiden.config.materializations import MADE_AGAIN
from dbt.adapters.deltawiden.sql.identifiers import Path, read_name


def node_path(node: Mapping[str, Any]) -> Path:
    """Return the parts of the name of a node's table or view, as dbt renders it in a query."""
    catalog, schema = node.get("database"), str(node["schema"])
    parts = [catalog, schema] if catalog and catalog != schema else [schema]
    return (*(name for part in parts for name in read_name(str(part))), str(node["alias"]))


def is_ephemeral(node: Mapping[str, Any]) -> bool:
    """Return whether a node is an ephemeral model, which has no table or view."""
    return materialization(node) == "ephemeral"


def materialization(node: Mapping[str, Any]) -> str:
    """Return the materialization of a node; its resource type if it is not a model."""
    if node["resource_type"] != "model":
        return str(node["resource_type"])
    return str((node.get("config") or {}).get("materialized"))


def keeps_rows(node: Mapping[str, Any]) -> bool:
    """Return whether the rows of a model or snapshot stay in its table from run to run."""
    made_again = (node.get("config") or {}).get("materialized") in (*MADE_AGAIN, "ephemeral")
    return node.get("resource_type") in ("model", "snapshot") and not made_again


def depends_on(node: Mapping[str, Any]) -> Sequence[str]:
    """Return the unique ids of the nodes and functions that a node itself names."""
    named: Sequence[str] = (node.get("depends_on") or {}).get("nodes", ())
    return named


def direct_readers(nodes: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the unique ids of the nodes that read each node."""
    readers: dict[str, list[str]] = {}
    for reader, node in nodes.items():
        for parent in depends_on(node):
            readers.setdefault(parent, []).append(reader)
    return readers


def readers_of(
    unique_id: str,
    nodes: Mapping[str, Any],
    readers: Mapping[str, Sequence[str]],
    through: Callable[[Any], bool] = lambda _: True,
) -> dict[str, Any]:
    """Return the nodes that read a node, by ``direct_readers``, also through some of these."""
    found, left = set[str](), [unique_id]
    while left:
        new = set(readers.get(left.pop(), ())) - found
        found |= new
        left += (each for each in new if through(nodes[each]))
    return {each: nodes[each] for each in sorted(found)}


def nodes_after(unique_id: str, graph: Mapping[str, Any]) -> dict[str, Any]:
    """Return the nodes and functions that read a node, directly or through others, by unique id."""
    nodes = {**graph.get("nodes", {}), **graph.get("functions", {})}
    return readers_of(unique_id, nodes, direct_readers(nodes))
