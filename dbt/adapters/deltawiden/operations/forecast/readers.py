"""The readers of a changed table that would cast its values back, or store rows a second time."""

from collections.abc import Iterator, Mapping

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome
from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner
from dbt.adapters.deltawiden.operations.selection import full_name
from dbt.adapters.deltawiden.sql.side_by_side import AmbiguousName, side_by_side
from dbt.adapters.deltawiden.views.narrow_functions import narrow_functions
from dbt.adapters.deltawiden.views.text_readers import keeps_rows, nodes_after, text_readers


def reader_effects(
    graph: NodeGraph, planner: NodePlanner, changed: Mapping[str, StructType]
) -> Iterator[Effect]:
    """Yield the effects on functions and on texts, by the unique ids of the tables that change."""
    for unique_id, schema in changed.items():
        table = graph.node(unique_id)
        # The other tables and views get the types of their queries, with dbt-spark too.
        keeps = keeps_rows(table)
        relation = planner.relation(table) if keeps or graph.whole.get("functions") else None
        before = planner.stored_schema(relation) if relation else None
        try:
            pairs = list(side_by_side(before or StructType(), schema))
        except AmbiguousName:  # The run stops there, with Spark's error.
            continue
        sides = ((pair.path, pair.left, pair.right) for pair in pairs)
        types = ((p, old.dataType, new.dataType) for p, old, new in sides if old and new)
        changes = [TypeChange(path, old, new) for path, old, new in types if old != new]
        nodes = (*graph.in_order(), *graph.whole.get("functions", {}).values())
        readers = {node["unique_id"]: node for node in nodes if unique_id in graph.inputs(node)}
        because = (full_name(table),)
        for name, declared, do in narrow_functions(graph.whole, readers, changes):
            yield Effect(Kind.FUNCTION, name, Outcome.CASTS_BACK, because, declared, (do,))
        after = nodes_after(unique_id, graph.whole) if keeps and changes else {}
        for node, details, each in text_readers(after, changes):
            told = (Kind(node["resource_type"]), full_name(node), Outcome.STORES_TWICE, because)
            if planner.relation(node):
                yield Effect(*told, tuple(details), tuple(each))
