"""Plan and analyse the nodes of a project."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.materializations import QUERIED
from dbt.adapters.deltawiden.config.model_spec import ModelSpec, read_model_spec
from dbt.adapters.deltawiden.config.renamed_columns import read_renames
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_path
from dbt.adapters.deltawiden.operations.forecast.future_types import FutureTypes
from dbt.adapters.deltawiden.operations.forecast.model import (
    Planned,
    TableChange,
    made_again_planned,
    new_table_planned,
    planned,
)
from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.snapshot_output import (
    own_columns,
    require_named_columns,
    snapshot_output,
)
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.sql.queries import mentions
from dbt.adapters.deltawiden.views.finder import ViewFinder
from dbt.adapters.deltawiden.views.graph import materialization, node_path
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.renames import renamed_schema
from dbt.adapters.deltawiden.writes.snapshots import SnapshotPlanner
from dbt.adapters.deltawiden.writes.write_planner import Schemas, WritePlanner

TakenOver = tuple[SparkRelation, Sequence[str]]


@dataclass
class NodePlanner:
    """Plans and analyses the nodes of a project.

    Attributes:
        query: renders a node's query for its relation; empty if it can't.
        relation: returns the relation of a node where the change is deployed, or None.
        taken_over: returns the table in a folder that the run of a node will take over, and the
            statements that do so, or None.
        writer: names what writes a node's rows, if a project or a package does.
        check: refuses a node whose run would be refused before it reads a table.
        check_views: refuses a node if a view that its query reads changes values.
        is_own: returns whether a macro of the project makes the statement of a node's strategy.
        schemas: the schema of each query that was analysed last, by the unique id of its node.
    """

    backend: SqlBackend
    write_planner: WritePlanner
    snapshots: SnapshotPlanner
    finder: ViewFinder
    query: Callable[[Node, BaseRelation | None], str]
    relation: Callable[[Node], BaseRelation | None]
    taken_over: Callable[[Node], TakenOver | None] = lambda _: None
    writer: Callable[[Node], str] = lambda _: ""
    check: Callable[[Node], None] = lambda _: None
    check_views: Callable[[Node, str], None] = lambda *_: None
    is_own: Callable[[Node, str], bool] = lambda *_: False
    schemas: dict[str, StructType] = field(default_factory=dict)

    def table(self, node: Node) -> BaseRelation | None:
        """Return the relation of a node that its next run will find, or None."""
        relation = self.relation(node)
        taken_over = None if relation else self.taken_over(node)
        return taken_over[0] if taken_over else relation

    def spec(self, node: Node) -> ModelSpec:
        """Return what a node's configuration says about its writes."""
        spec = read_model_spec(node["config"], full_name(node), node.get("columns"))
        return replace(spec, is_written_by_project=self.is_own(node, spec.strategy))

    def stored_schema(self, relation: BaseRelation) -> StructType | None:
        """Return the schema of a relation. None for a view whose query is not valid any more."""
        try:
            return self.backend.schema(relation)
        except DbtRuntimeError:
            return None

    def plan_kept(self, node: Node, query: str, output: StructType) -> Planned:
        """Return what the next run of an incremental model or a snapshot will do."""
        table = self.table(node)
        if not isinstance(table, SparkRelation):
            return new_table_planned(full_name(node), output)
        if materialization(node) == "incremental":
            return self.plan_model(node, table, output, query)
        require_named_columns(node, query, self.backend.query_schema)
        spec = self.spec(node)

        def decide(schema: StructType) -> Plan:
            written = snapshot_output(node, output, schema, self.backend.query_schema)
            own = own_columns(node), BaseAdapter.get_hard_deletes_behavior(node["config"])
            return self.snapshots.plan_schemas(Schemas(written, schema), table, spec, *own)

        return planned(self.backend, node, TableChange(table, decide), spec)

    def plan_model(
        self, node: Node, table: SparkRelation, output: StructType, query: str
    ) -> Planned:
        """Return what a model's next run will do to its relation. The errors are the run's."""
        if table.is_view or node["config"].get("full_refresh"):
            return made_again_planned(full_name(node), output, self.stored_schema(table))
        spec = self.spec(node)

        def decide(schema: StructType) -> Plan:
            return self.write_planner.plan_incremental(Schemas(output, schema), table, spec, query)

        return planned(self.backend, node, TableChange(table, decide), spec)

    def analyse(
        self, graph: NodeGraph, node: Node, types: FutureTypes
    ) -> tuple[str, StructType] | None:
        """Return a node's query, if it is known, with its inputs' future types, and its schema.

        Raises:
            SchemaChangeRefused: the query reads a view that changes values.
        """
        table = self.table(node)
        query = self.query(node, table)
        if not query:
            return None
        reads = [node_path(graph.node(unique_id)) for unique_id in graph.inputs(node)]
        renames = read_renames(node["config"], node.get("columns") or {})
        if renames and isinstance(table, SparkRelation) and mentions(query, relation_path(table)):
            # The run renames the columns of the table before it reads them there.
            own = relation_path(table)
            types.set(own, renamed_schema(renames, self.backend.table_schema(table)))
            reads.append(own)
        found = types.analyse(query, reads)
        self.schemas[str(node["unique_id"])] = found[1]
        if materialization(node) in QUERIED:
            self.check_views(node, found[0])
        return found
