"""``plan``: show what the next ``dbt run`` will do to the tables of the target."""

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError, DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.operations.forecast.apply import apply_changes
from dbt.adapters.deltawiden.operations.forecast.contracts import (
    contract_command,
    contract_differences,
    has_contract,
)
from dbt.adapters.deltawiden.operations.forecast.downstream import QUERY_NOT_KNOWN, Forecast
from dbt.adapters.deltawiden.operations.forecast.model import (
    Planned,
    made_again_planned,
    new_table_planned,
)
from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph, materialization
from dbt.adapters.deltawiden.operations.forecast.reader import Reader
from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.forecast.would_be_types import WouldBeTypes
from dbt.adapters.deltawiden.operations.selection import Names, Node, Selection, full_name
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused


def plan(reader: Reader, selection: Selection, models: Names, apply: bool = False) -> PlanResults:
    """Show what the next run will do to the tables of incremental models.

    Args:
        apply: whether to run what comes before the write, too. Otherwise, nothing is changed.

    Returns:
        The plan for each model, and what the changes do to everything that reads the tables. A
        refusal is a failure, and so is a query that is not known.
    """
    nodes = selection.nodes_to_plan(models)
    graph = NodeGraph(selection.graph)

    def decide(node: Node, types: WouldBeTypes) -> Planned | None:
        if materialization(node) == "snapshot":
            # Outside of plan_reached, so that it is the error of the node that was asked for.
            if reader.analyse(graph, node, types) is None:
                raise DbtRuntimeError(QUERY_NOT_KNOWN)
            return forecast.plan_reached(node)
        if materialization(node) != "incremental":
            return made_again_planned(full_name(node))
        return _plan_node(reader, graph, node, types)

    asked = [str(node["unique_id"]) for node in nodes]
    types = WouldBeTypes(reader.backend)
    forecast = Forecast(graph, reader, types, decide, frozenset(asked), models is None)
    forecast.run()
    if apply:
        apply_changes(forecast, frozenset(forecast.results if models is None else asked))
    return PlanResults.of(selection.operation, forecast, asked)


def _plan_node(reader: Reader, graph: NodeGraph, node: Node, types: WouldBeTypes) -> Planned:
    name = full_name(node)
    reader.check(node)
    table = reader.table(node)
    if not isinstance(table, SparkRelation):
        analysed = None
        try:
            analysed = reader.analyse(graph, node, types)
        except SchemaChangeRefused:
            raise
        except DbtRuntimeError:
            pass  # The run itself will say what is wrong.
        return new_table_planned(name, analysed[1] if analysed else StructType())
    found = reader.analyse(graph, node, types)
    if found is None:
        raise DbtRuntimeError(QUERY_NOT_KNOWN)
    query, output = found
    differences = contract_differences(reader.backend, node, output) if has_contract(node) else []
    if differences:
        lines = ["Its enforced contract no longer matches."]
        lines += [f"  {difference.text}" for difference in differences]
        raise CompilationError("\n".join([*lines, f"Do: {contract_command(name)}"]))
    return reader.plan_model(node, table, output, query)
