"""``plan``: show what the next ``dbt run`` will do to the tables of the target."""

from functools import partial

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.operations.forecast.apply import apply_changes
from dbt.adapters.deltawiden.operations.forecast.contracts import require_contract
from dbt.adapters.deltawiden.operations.forecast.downstream import QUERY_NOT_KNOWN, Forecast
from dbt.adapters.deltawiden.operations.forecast.future_types import FutureTypes
from dbt.adapters.deltawiden.operations.forecast.model import (
    Planned,
    made_again_planned,
    new_table_planned,
)
from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner
from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.selection import Names, Node, Selection, full_name
from dbt.adapters.deltawiden.views.graph import materialization
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused


def plan(
    planner: NodePlanner, selection: Selection, models: Names, apply: bool = False
) -> PlanResults:
    """Show what the next run will do to the tables of incremental models.

    Args:
        apply: whether to run what comes before the write, too. Otherwise, nothing is changed.

    Returns:
        The plan for each model, and what the changes do to everything that reads the tables. A
        refusal is a failure, and so is a query that is not known.
    """
    nodes = selection.nodes_to_plan(models)
    graph = NodeGraph(selection.graph)

    asked = [str(node["unique_id"]) for node in nodes]
    types = FutureTypes(planner.backend)
    decide = partial(_plan_node, planner, graph, types)
    forecast = Forecast(graph, planner, types, decide, frozenset(asked), models is None)
    forecast.run()
    if apply:
        apply_changes(forecast, frozenset(forecast.results if models is None else asked))
    return PlanResults.of(selection.operation, forecast, asked)


def _plan_node(planner: NodePlanner, graph: NodeGraph, types: FutureTypes, node: Node) -> Planned:
    name, table, found = full_name(node), planner.table(node), None
    try:
        found = planner.analyse(graph, node, types)
    except DbtRuntimeError as error:
        if isinstance(table, SparkRelation) or isinstance(error, SchemaChangeRefused):
            raise
        # Of a new table, the run itself will say what is wrong.
    query, output = found or ("", StructType())
    if found is not None:
        require_contract(planner.backend, node, output)
    if materialization(node) != "incremental":
        before = planner.stored_schema(table) if found and table else None
        return made_again_planned(name, output, before)
    if not isinstance(table, SparkRelation):
        return new_table_planned(name, output)
    if found is None:
        raise DbtRuntimeError(QUERY_NOT_KNOWN)
    return planner.plan_model(node, table, output, query)
