"""The readers of a changed table that would cast its values back, or store rows a second time."""

from collections.abc import Iterator, Mapping

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome
from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.sql.side_by_side import AmbiguousName, side_by_side
from dbt.adapters.deltawiden.views.graph import (
    direct_readers,
    is_ephemeral,
    keeps_rows,
    readers_of,
)
from dbt.adapters.deltawiden.views.narrow_functions import narrow_functions
from dbt.adapters.deltawiden.views.text_readers import text_readers


def reader_effects(
    graph: NodeGraph,
    planner: NodePlanner,
    before: Mapping[str, StructType],
    after: Mapping[str, StructType],
) -> Iterator[Effect]:
    """Yield the effects on functions and on texts.

    Args:
        before, after: the schemas of the tables that change, by the unique ids of their nodes.
    """
    types = {each: _type_changes(before[each], after[each]) for each in after if each in before}
    changed = {unique_id: changes for unique_id, changes in types.items() if changes}
    functions = graph.whole.get("functions", {})
    every = (*graph.in_order(), *functions.values()) if changed else ()
    nodes = {str(node["unique_id"]): node for node in every}
    readers = direct_readers(nodes)
    for unique_id, changes in changed.items():
        table = graph.node(unique_id)
        because = (full_name(table),)
        near = readers_of(unique_id, nodes, readers, _hands_on) if functions else {}
        named = narrow_functions(graph.whole, near, changes)
        for name, declared, do in named:
            yield Effect(Kind.FUNCTION, name, Outcome.CASTS_BACK, because, declared, (do,))
        # The other tables and views get the types of their queries, with dbt-spark too.
        far = readers_of(unique_id, nodes, readers) if keeps_rows(table) else {}
        for node, details, each in text_readers(far, changes):
            told = (Kind(node["resource_type"]), full_name(node), Outcome.STORES_TWICE, because)
            if planner.relation(node):
                yield Effect(*told, tuple(details), tuple(each))


def _type_changes(before: StructType, after: StructType) -> list[TypeChange]:
    try:
        pairs = list(side_by_side(before, after))
    except AmbiguousName:  # The run stops there, with Spark's error.
        return []
    sides = ((pair.path, pair.left, pair.right) for pair in pairs)
    types = ((path, old.dataType, new.dataType) for path, old, new in sides if old and new)
    return [TypeChange(path, old, new) for path, old, new in types if old != new]


def _hands_on(node: Node) -> bool:
    """Return whether a query that reads a node has the node's own query in it."""
    return is_ephemeral(node) or node["resource_type"] == "function"
