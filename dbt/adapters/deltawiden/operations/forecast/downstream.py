"""What type changes do to everything that reads the tables, before anything runs.

The nodes of dbt's graph are visited in the order of a run. Spark analyses the query of each node
that reads a changed table, with the types that its inputs would have then. No query is run.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from dbt.adapters.base.impl import BaseAdapter
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import (
    CompilationError,
    DbtBaseException,
    DbtConfigError,
    DbtDatabaseError,
    DbtRuntimeError,
)
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.policy import stops_at_loss
from dbt.adapters.deltawiden.delta.relations import relation_path
from dbt.adapters.deltawiden.operations.forecast.contracts import (
    ContractDifference,
    contract_command,
    contract_differences,
    has_contract,
)
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome, first_line
from dbt.adapters.deltawiden.operations.forecast.future_types import FutureTypes
from dbt.adapters.deltawiden.operations.forecast.model import (
    Planned,
    TableChange,
    new_table_planned,
    planned,
    schema_differences,
    skipped_model,
    with_take_over,
)
from dbt.adapters.deltawiden.operations.forecast.node_graph import (
    NodeGraph,
    is_ephemeral,
    materialization,
    node_path,
)
from dbt.adapters.deltawiden.operations.forecast.node_planner import CHECKED, NodePlanner
from dbt.adapters.deltawiden.operations.forecast.readers import reader_effects
from dbt.adapters.deltawiden.operations.forecast.snapshot_output import (
    own_columns,
    require_named_columns,
    snapshot_output,
)
from dbt.adapters.deltawiden.operations.forecast.stale_views import (
    ChangedTable,
    StaleForecast,
    stop_of_reader,
)
from dbt.adapters.deltawiden.operations.result import OperationResult, with_progress
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.spark.errors import NOT_BUILT, condition, message_of
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, without_session_catalog
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused
from dbt.adapters.deltawiden.writes.write_planner import Schemas

QUERY_NOT_KNOWN = (
    "Its query is not known: the model is in Python, dbt can't compile it, or its text runs a "
    "statement that does more than read, which a plan does not run. For SQL, run dbt compile, then "
    "plan with the argument compiled: true."
)

_OTHER_WRITER = (
    "What its run does is not known: its rows are written by {}. What reads its table is planned "
    "with the types that it has now."
)

_INPUT_NOT_KNOWN = (
    "What its run does is not known: it reads {}, which is new, and whose columns a plan does not "
    "know."
)

READS = "reads models that change"
"""The heading of the column with the inputs of a model that change or stop."""

_KINDS = {"view": Kind.VIEW, "snapshot": Kind.SNAPSHOT}

_REFUSALS = (CompilationError, DbtConfigError, DbtDatabaseError)
"""The errors of a plan with which the run itself would stop."""

Decide = Callable[[Node], Planned]
"""Plans a model that was asked for, with the types that its inputs would have."""


@dataclass
class Forecast:
    """The effects of type changes, found in the order of a run. The keys are unique ids.

    Attributes:
        visits_all: whether all nodes are analysed, as before a run of the whole project. Otherwise,
            only those that were asked for, and those that their changes reach.
        stops_at_contracts: whether a contract that does not match stops a run.
        results: the plans of the nodes that were asked for, and of others that change or stop.
        changes: what the run will change in existing tables.
    """

    graph: NodeGraph
    planner: NodePlanner
    types: FutureTypes
    decide: Decide | None = None
    asked: frozenset[str] = frozenset()
    visits_all: bool = False
    stops_at_contracts: bool = True
    analysed: set[str] = field(default_factory=set)
    contracts: dict[str, list[ContractDifference]] = field(default_factory=dict)
    results: dict[str, OperationResult] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    changes: dict[str, TableChange] = field(default_factory=dict)
    _before: dict[str, StructType] = field(default_factory=dict)
    _changed: dict[str, StructType] = field(default_factory=dict)
    _new: set[str] = field(default_factory=set)
    _stopped: set[str] = field(default_factory=set)

    def visit_nodes(self) -> None:
        """Plan or analyse the nodes."""
        every = self.graph.in_order()
        nodes = [n for n in every if not is_ephemeral(n) and n["resource_type"] != "seed"]
        for node in with_progress("analysis", "models", nodes, full_name):
            self._visit(node)

    def run(self) -> None:
        """Visit all nodes, then the views of the catalog, the exposures and other readers."""
        self.visit_nodes()
        self._stop_readers(self._find_stale_views())
        reached = self._changed.keys() - self._new | self._stopped
        for exposure in self.graph.exposures():
            if because := self._because(exposure, reached):
                name = str(exposure["name"])
                self.effects.append(Effect(Kind.EXPOSURE, name, Outcome.READS, because))
        self.effects += reader_effects(self.graph, self.planner, self._before, self._changed)

    def _visit(self, node: Node) -> None:
        unique_id = str(node["unique_id"])
        because = self._because(node, self._changed)
        writer = self.planner.writer(node) if self.planner.relation(node) else ""
        decide = self.decide
        if decide is not None and unique_id in self.asked:
            self._plan(node, because, lambda: self._decided(node, writer, decide))
            return
        stopped = self._because(node, self._stopped)
        if stopped:
            self._stopped.add(unique_id)
            self._add(node, Outcome.SKIPPED, stopped)
        elif writer and (because or self.visits_all):
            self._add(node, Outcome.UNKNOWN, because, (_OTHER_WRITER.format(writer),))
        elif because or self.visits_all:
            self._visit_reached(node, because)

    def _decided(self, node: Node, writer: str, decide: Decide) -> Planned | None:
        if writer:
            raise DbtRuntimeError(_OTHER_WRITER.format(writer))
        self.planner.check(node)
        return self.plan_reached(node) if materialization(node) == "snapshot" else decide(node)

    def _visit_reached(self, node: Node, because: tuple[str, ...]) -> None:
        is_kept = not node["config"].get("full_refresh") or materialization(node) == "snapshot"
        if materialization(node) in ("incremental", "snapshot") and is_kept:
            self._plan(node, because, lambda: self.plan_reached(node))
            return
        analysed = self._analysed(node, because)
        if analysed is None or self._breaks_contract(node, analysed[1], because):
            return
        relation = self.planner.relation(node)
        stored = self.planner.stored_schema(relation) if relation else None
        if stored is None:
            self._set(node, analysed[1])
            return
        details = schema_differences(stored, analysed[1])
        if details:
            self._set(node, analysed[1], stored)
            self._add(node, Outcome.NEW_TYPES, because, details)

    def _analysed(self, node: Node, because: tuple[str, ...]) -> tuple[str, StructType] | None:
        is_asked = str(node["unique_id"]) in self.asked
        try:
            analysed = self.planner.analyse(self.graph, node, self.types)
        except DbtRuntimeError as error:
            if is_asked:
                raise
            is_built = self.visits_all or self.planner.relation(node) is not None
            if not is_built and condition(error.msg) == NOT_BUILT:
                # What else it reads is not built yet, either.
                return None
            is_refused = isinstance(error, SchemaChangeRefused)
            not_known = self._not_known(node, error.msg)
            if not because and not is_refused:
                # What it needs may not be built yet.
                self._pass_over(node, not_known or first_line(error.msg))
                return None
            if not_known:
                self._add(node, Outcome.UNKNOWN, because, (not_known,))
                return None
            self._stopped.add(str(node["unique_id"]))
            lines = filter(None, error.msg.splitlines()) if is_refused else [first_line(error.msg)]
            self._add(node, Outcome.STOPS, because, tuple(lines))
            return None
        if analysed is not None:
            self.analysed.add(str(node["unique_id"]))
        elif is_asked:
            raise DbtRuntimeError(QUERY_NOT_KNOWN)
        elif because:
            self._add(node, Outcome.UNKNOWN, because, (QUERY_NOT_KNOWN,))
        else:
            self._pass_over(node, QUERY_NOT_KNOWN)
        return analysed

    def _not_known(self, node: Node, error: str) -> str:
        """Return why the run may not have an error: it first builds a missing input. Or empty."""
        if condition(error) != NOT_BUILT:
            return ""
        inputs = self.graph.inputs(node)
        nodes = [self.graph.node(each) for each in inputs if each not in self._changed]
        names = [
            full_name(each)
            for each in nodes
            if each["resource_type"] != "seed" and self.planner.relation(each) is None
        ]
        return _INPUT_NOT_KNOWN.format(", ".join(names)) if names else ""

    def _pass_over(self, node: Node, why: str) -> None:
        if self.planner.relation(node):
            self._add(node, Outcome.UNKNOWN, (), (why,))

    def _plan(
        self, node: Node, because: tuple[str, ...], decide: Callable[[], Planned | None]
    ) -> None:
        unique_id, name = str(node["unique_id"]), full_name(node)
        stops = self._because(node, self._stopped)
        try:
            found = self._with_take_over(decide(), node)
        except DbtBaseException as error:
            text = message_of(error)
            not_known = self._not_known(node, text)
            is_refused = isinstance(error, _REFUSALS) and not not_known
            if unique_id not in self.asked and not because and not is_refused:
                return
            if is_refused:
                self._stopped.add(unique_id)
            result = OperationResult(name, error="\n".join(filter(None, (not_known, text))))
        else:
            if found is None:
                return
            result = skipped_model(name, stops) if stops else found.result
            if found.changes_types and not stops:
                self._set(node, found.schema, found.before)
            if found.change and not stops:
                self.changes[unique_id] = found.change
        if stops:
            self._stopped.add(unique_id)
            self._add(node, Outcome.SKIPPED, stops)
        is_shown = unique_id in self.asked or result.error or result.values.get("statements")
        if is_shown:
            reads = sorted({*because, *stops})
            values = {"model": name, "reads_changed": reads, **result.values}
            shown = {**result.shown, READS: ", ".join(reads)}
            self.results[unique_id] = replace(result, values=values, shown=shown)

    def _with_take_over(self, found: Planned | None, node: Node) -> Planned | None:
        """Add the statements with which the run of a node takes over the table in its folder."""
        if found is None or self.planner.relation(node):
            return found
        taken_over = self.planner.taken_over(node)
        return with_take_over(found, *taken_over) if taken_over else found

    def plan_reached(self, node: Node) -> Planned | None:
        """Plan an incremental model or a snapshot. None if that is not possible.

        Raises:
            DbtRuntimeError: it was asked for, and Spark can't analyse its query.
        """
        because = self._because(node, self._changed)
        analysed = self._analysed(node, because)
        if analysed is None or self._breaks_contract(node, analysed[1], because):
            return None
        query, output = analysed
        table = self.planner.table(node)
        if not isinstance(table, SparkRelation):
            return new_table_planned(full_name(node), output)
        if materialization(node) == "incremental":
            return self.planner.plan_model(node, table, output, query)
        require_named_columns(node, query, self.planner.backend.query_schema)
        spec = self.planner.spec(node)

        def decide(schema: StructType) -> Plan:
            written = snapshot_output(node, output, schema, self.planner.backend.query_schema)
            own = own_columns(node), BaseAdapter.get_hard_deletes_behavior(node["config"])
            return self.planner.snapshots.plan_schemas(Schemas(written, schema), table, spec, *own)

        return planned(self.planner.backend, node, TableChange(table, decide), spec)

    def _breaks_contract(self, node: Node, output: StructType, because: tuple[str, ...]) -> bool:
        if not has_contract(node):
            return False
        differences = contract_differences(self.planner.backend, node, output)
        if differences:
            self.contracts[str(node["unique_id"])] = differences
        if differences and self.stops_at_contracts:
            self._stopped.add(str(node["unique_id"]))
            name = full_name(node)
            texts = tuple(difference.text for difference in differences)
            do = (contract_command(name),)
            broken = Effect(Kind.CONTRACT, name, Outcome.BREAKS, because, texts, do)
            if str(node["unique_id"]) in self.asked:
                raise CompilationError(broken.error)
            self.effects.append(broken)
        return bool(differences) and self.stops_at_contracts

    def _find_stale_views(self) -> Mapping[Path, tuple[Effect, ...]]:
        tables, after = [], set[str]()
        for unique_id, schema in self._changed.items():
            relation = self.planner.relation(self.graph.node(unique_id))
            if relation is not None and not relation.is_view:
                after.add(unique_id)
                tables.append(ChangedTable(_path(relation), self._name(unique_id), schema))
        if not tables:
            return {}
        views = {
            folded(_path(relation)): node
            for node in self.graph.in_order()
            if materialization(node) == "view"
            and (relation := self.planner.relation(node)) is not None
        }
        ids = {path: str(node["unique_id"]) for path, node in views.items()}
        for node in self.graph.in_order():
            if not after.isdisjoint(self.graph.inputs(node)):
                after.add(str(node["unique_id"]))
        # The run can make another view before the table changes.
        after &= (set(ids.values()) if self.visits_all else self.analysed) - self._stopped
        made = {path: self._changed.get(x) for path, x in ids.items() if x in after}
        models = {path: full_name(node) for path, node in views.items()}
        stale = StaleForecast(self.planner.backend, self.planner.finder, models, made)
        stops = {effect.name for effect in self.effects if effect.stops_the_run}
        found = [effect for effect in stale.effects(tables) if effect.name not in stops]
        names = {effect.name for effect in found}
        kept = [e for e in self.effects if e.kind is not Kind.VIEW or e.name not in names]
        self.effects[:] = [*kept, *found]
        return stale.read_by

    def _stop_readers(self, views: Mapping[Path, tuple[Effect, ...]]) -> None:
        """Add the stop of each node that reads, as a source, a view that will fail or cast back."""
        for node in self.graph.in_order() if views else ():
            unique_id, name = str(node["unique_id"]), full_name(node)
            is_run = unique_id in self.asked or self.visits_all
            is_run = is_run or bool(self._because(node, self._changed))
            is_view = materialization(node) == "view"
            is_checked = is_view or materialization(node) in CHECKED
            if not is_run or unique_id in self._stopped or not is_checked:
                continue
            # A view of dbt follows the types of its query.
            accepts_loss = is_view or not stops_at_loss(node["config"])
            paths = map(without_session_catalog, self.graph.sources(node))
            read = [effect for path in paths for effect in views.get(folded(path), ())]
            kind = _KINDS.get(materialization(node), Kind.MODEL)
            effect = stop_of_reader(kind, name, read, accepts_loss)
            if effect is None:
                continue
            self._stopped.add(unique_id)
            self.changes.pop(unique_id, None)
            self.results.pop(unique_id, None)
            if unique_id in self.asked:
                values = {"model": name, "reads_changed": []}
                self.results[unique_id] = OperationResult(name, {}, values, effect.error)
            else:
                others = (e for e in self.effects if (e.kind, e.name) != (Kind.VIEW, name))
                self.effects[:] = [*others, effect]

    def _set(self, node: Node, schema: StructType, before: StructType | None = None) -> None:
        unique_id = str(node["unique_id"])
        self._changed[unique_id] = schema
        self._before |= {unique_id: before} if before else {}
        if self.planner.relation(node) is None:
            self._new.add(unique_id)
        self.types.set(node_path(node), schema)

    def _because(self, node: Node, among: Collection[str]) -> tuple[str, ...]:
        found = set(self.graph.inputs(node)) & set(among)
        return tuple(sorted(map(self._name, found)))

    def _name(self, unique_id: str) -> str:
        return full_name(self.graph.node(unique_id))

    def _add(
        self, node: Node, outcome: Outcome, because: tuple[str, ...], details: tuple[str, ...] = ()
    ) -> None:
        kind = _KINDS.get(materialization(node), Kind.MODEL)
        self.effects.append(Effect(kind, full_name(node), outcome, because, details))


def _path(relation: BaseRelation) -> Path:
    return without_session_catalog(relation_path(relation))
