"""``check_type_widening``: show what a deployment will do to the tables of another schema."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.config.materializations import QUERIED
from dbt.adapters.deltawiden.delta.relations import relation_path, relation_sql
from dbt.adapters.deltawiden.operations.forecast.downstream import READS, Forecast
from dbt.adapters.deltawiden.operations.forecast.future_types import FutureTypes
from dbt.adapters.deltawiden.operations.forecast.model import (
    Planned,
    made_again_planned,
    new_table_planned,
)
from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner
from dbt.adapters.deltawiden.operations.forecast.results import PlanResults
from dbt.adapters.deltawiden.operations.result import OperationResult
from dbt.adapters.deltawiden.operations.selection import Names, Node, Selection, full_name
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, read_name
from dbt.adapters.deltawiden.sql.queries import mentions
from dbt.adapters.deltawiden.views.graph import materialization, node_path


def check_type_widening(
    planner: NodePlanner,
    selection: Selection,
    schema_exists: Callable[[str | None, str], bool],
    against: str | None,
    models: Names,
) -> PlanResults:
    """Compare what models build in the target's schema with their tables in another.

    Returns:
        What a deployment would do to each table, and to everything that reads the tables. A refusal
        is a failure.

    Raises:
        CompilationError: there are no tables to compare with.
    """
    own_schema = selection.target_schema
    if not against or _is_target(selection, against):
        raise selection.error(
            f"`against` must name the schema to compare with, other than {own_schema}"
        )
    deployment = _Deployment(selection, against)
    nodes = {str(node["unique_id"]): node for node in selection.nodes_to_plan(models)}
    places = list(dict.fromkeys(map(deployment.required_place, nodes.values())))
    built = {key: selection.node_relation(node) for key, node in nodes.items()}
    tables = {key: deployment.relation(node) for key, node in nodes.items()}
    if nodes and not (any(tables.values()) or any(schema_exists(*place) for place in places)):
        # If the schema's name is misspelt, every model would otherwise pass as new.
        missing = ", ".join(".".join(filter(None, place)) for place in places)
        raise selection.error(f"there is nothing to compare with: no schema {missing}")
    deployed = replace(planner, relation=deployment.relation)
    graph = NodeGraph(selection.graph)

    def decide(node: Node) -> Planned:
        key = str(node["unique_id"])
        return _check(deployed, node, built[key], tables[key])

    types = FutureTypes(planner.backend, deployment.names(graph))
    forecast = Forecast(graph, deployed, types, decide, frozenset(nodes))
    forecast.run()
    named = {key: _with_table(forecast.results[key], table) for key, table in tables.items()}
    forecast.results.update(named)
    return PlanResults.of(selection.operation, forecast, list(nodes))


@dataclass(frozen=True)
class _Deployment:
    """Finds the relations of nodes in the schema of a deployment."""

    selection: Selection
    against: str

    def place(self, node: Node) -> tuple[str | None, str] | None:
        """Return a node's catalog and schema there; None if its schema is not the target's."""
        schema, own_schema = str(node["schema"]), self.selection.target_schema
        # dbt appends the name of a custom schema to the target's: ci_finance matches prod_finance.
        if schema != own_schema and not schema.startswith(f"{own_schema}_"):
            return None
        custom = str((node.get("config") or {}).get("schema") or "").strip()
        # A project can leave it out in some targets, with generate_schema_name_for_env.
        if custom and schema == own_schema:
            return None
        catalog, other = self.selection.catalog_and_schema(self.against)
        own_catalog = node.get("database")
        # A model that is configured to be in another catalog than the target's is there everywhere.
        catalog = catalog if own_catalog == self.selection.target_catalog else own_catalog
        return catalog, other + schema[len(own_schema) :]

    def required_place(self, node: Node) -> tuple[str | None, str]:
        """Return the place of a node, or raise an error if its schema is not the target's."""
        place = self.place(node)
        if place is None:
            appended = f"_{node['config']['schema']}" if node["config"].get("schema") else ""
            raise self.selection.error(
                f"the schema of {full_name(node)}, {node['schema']}, is not one of the target's "
                f"({self.selection.target_schema}{appended}), so there is none to compare with"
            )
        return place

    def relation(self, node: Node) -> BaseRelation | None:
        """Return the relation of a node there, or None."""
        place = self.place(node)
        if place is None:
            return self.selection.node_relation(node)
        return self.selection.get_relation(*place, node["alias"])

    def names(self, graph: NodeGraph) -> dict[Path, Path]:
        """Return the names of the relations there, by the names of the nodes in the target."""
        found: dict[Path, Path] = {}
        for node in graph.in_order():
            relation = self.relation(node)
            if relation is not None:
                found[node_path(node)] = relation_path(relation)
        return found


def _is_target(selection: Selection, against: str) -> bool:
    own = read_name(selection.target_schema)
    with_catalog = (selection.target_catalog or "", *own)
    return folded(read_name(against)) in (folded(own), folded(with_catalog))


def _check(
    planner: NodePlanner, node: Node, built: BaseRelation | None, table: BaseRelation | None
) -> Planned:
    """Plan a model that was ``built`` in the target's schema for the deployment's ``table``."""
    if built is None:
        raise DbtRuntimeError(
            "is not built in this target's schema: run it there first, for example with "
            f"dbt run --empty --select {full_name(node)}"
        )
    backend = planner.backend
    query = planner.query(node, table)
    if materialization(node) in QUERIED:
        planner.check_views(node, query)
    if not isinstance(table, SparkRelation):
        return new_table_planned(full_name(node), backend.schema(built))
    if materialization(node) != "incremental":
        schemas = backend.schema(built), planner.stored_schema(table)
        return made_again_planned(full_name(node), *schemas)
    # A model that reads its own table has other types there than where it was built first.
    reads_itself = mentions(query, relation_path(table))
    output = backend.schema_if_valid(query) if reads_itself else None
    output = backend.schema(built) if output is None else output
    return planner.plan_model(node, table, output, query)


def _with_table(result: OperationResult, found: BaseRelation | None) -> OperationResult:
    """Add the model's table to a result, whether the check failed or not.

    Leave out the inputs that change: the types of the model are those that were built.
    """
    table = {"table": relation_sql(found)} if found else {}
    values = {key: value for key, value in result.values.items() if key != "reads_changed"}
    shown = {**result.shown, **({READS: ""} if result.shown else {})}
    return replace(result, shown=shown, values={**table, **values})
