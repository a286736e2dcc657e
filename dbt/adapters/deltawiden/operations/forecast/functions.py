"""The functions of dbt that would cast the values of a changed table to the types from before."""

from collections.abc import Iterator, Mapping

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome
from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner
from dbt.adapters.deltawiden.operations.selection import full_name
from dbt.adapters.deltawiden.sql.side_by_side import AmbiguousName, side_by_side
from dbt.adapters.deltawiden.views.narrow_functions import narrow_functions


def function_effects(
    graph: NodeGraph, planner: NodePlanner, changed: Mapping[str, StructType]
) -> Iterator[Effect]:
    """Yield an effect for each function to update, by the unique id of the table that changes."""
    for unique_id, schema in changed.items() if graph.whole.get("functions") else ():
        table = graph.node(unique_id)
        relation = planner.relation(table)
        before = planner.stored_schema(relation) if relation else None
        try:
            pairs = list(side_by_side(before or StructType(), schema))
        except AmbiguousName:  # The run stops there, with Spark's error.
            continue
        sides = ((pair.path, pair.left, pair.right) for pair in pairs)
        changes = [
            TypeChange(p, old.dataType, new.dataType) for p, old, new in sides if old and new
        ]
        nodes = (*graph.in_order(), *graph.whole["functions"].values())
        readers = {node["unique_id"]: node for node in nodes if unique_id in graph.inputs(node)}
        for name, types, do in narrow_functions(graph.whole, readers, changes):
            because, outcome = (full_name(table),), Outcome.CASTS_BACK
            yield Effect(Kind.FUNCTION, name, outcome, because, types, (do,))
