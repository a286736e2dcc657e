"""What type changes do to everything that reads the tables, before anything runs.

The nodes of dbt's graph are visited in the order of a run. Spark analyses the query of each node
that reads a changed table, with the types that its inputs would have then. No query is run.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from dbt.adapters.base.relation import BaseRelation
from dbt_common.exceptions import (
    CompilationError,
    DbtBaseException,
    DbtConfigError,
    DbtDatabaseError,
    DbtRuntimeError,
)
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.materializations import KEEP_ROWS, QUERIED
from dbt.adapters.deltawiden.config.policy import stops_at_loss
from dbt.adapters.deltawiden.delta.relations import relation_path
from dbt.adapters.deltawiden.operations.forecast.contracts import (
    ContractDifference,
    broken_contract,
    contract_differences,
    require_contract,
)
from dbt.adapters.deltawiden.operations.forecast.effects import Effect, Kind, Outcome, first_line
from dbt.adapters.deltawiden.operations.forecast.future_types import FutureTypes
from dbt.adapters.deltawiden.operations.forecast.model import (
    Planned,
    TableChange,
    schema_differences,
    skipped_model,
    with_take_over,
)
from dbt.adapters.deltawiden.operations.forecast.node_graph import NodeGraph
from dbt.adapters.deltawiden.operations.forecast.node_planner import NodePlanner
from dbt.adapters.deltawiden.operations.forecast.reached_nodes import reader_effects
from dbt.adapters.deltawiden.operations.forecast.view_forecast import (
    ChangedTable,
    StaleForecast,
    stop_of_reader,
)
from dbt.adapters.deltawiden.operations.result import OperationResult, with_progress
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.spark.errors import NOT_BUILT, condition, message_of
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, without_session_catalog
from dbt.adapters.deltawiden.views.graph import is_ephemeral, materialization, node_path
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused

QUERY_NOT_KNOWN = (
    "Its query is not known: the model is in Python, dbt can't compile it, or its text does what "
    "its run alone may do, such as CREATE SCHEMA or adapter.drop_relation. dbt's log file says "
    "which. For SQL, run dbt compile, then plan with the argument compiled: true."
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
        contracts: the differences between the contract and the query of each node that was analysed
            without being asked for.
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
        if self.decide is not None and unique_id in self.asked:
            self._visit_asked(node, because, writer, self.decide)
        elif stopped := self._because(node, self._stopped):
            self._stopped.add(unique_id)
            self._add(node, Outcome.SKIPPED, stopped)
        elif writer and (because or self.visits_all):
            self._add(node, Outcome.UNKNOWN, because, (_OTHER_WRITER.format(writer),))
        elif because or self.visits_all:
            self._visit_reached(node, because)

    def _visit_asked(
        self, node: Node, because: tuple[str, ...], writer: str, decide: Decide
    ) -> None:
        name, stopped = full_name(node), self._because(node, self._stopped)
        try:
            found = self._decided(node, writer, decide)
        except DbtBaseException as error:
            result = self._failed(node, error)
        else:
            result = skipped_model(name, stopped) if stopped else self._record(node, found)
        if stopped:
            self._stopped.add(str(node["unique_id"]))
            self._add(node, Outcome.SKIPPED, stopped)
        self._show(node, result, {*because, *stopped})

    def _decided(self, node: Node, writer: str, decide: Decide) -> Planned:
        """Plan a node that was asked for, or raise an error: its run's, or why no plan is known."""
        if writer:
            raise DbtRuntimeError(_OTHER_WRITER.format(writer))
        self.planner.check(node)
        if materialization(node) != "snapshot":
            return self._with_take_over(decide(node), node)
        analysed = self.planner.analyse(self.graph, node, self.types)
        if analysed is None:
            raise DbtRuntimeError(QUERY_NOT_KNOWN)
        require_contract(self.planner.backend, node, analysed[1])
        return self._with_take_over(self.planner.plan_kept(node, *analysed), node)

    def _visit_reached(self, node: Node, because: tuple[str, ...]) -> None:
        analysed = self._analysed(node, because)
        if analysed is None:
            return
        is_kept = not node["config"].get("full_refresh") or materialization(node) == "snapshot"
        if materialization(node) in KEEP_ROWS and is_kept:
            self._visit_kept(node, because, *analysed)
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

    def _visit_kept(
        self, node: Node, because: tuple[str, ...], query: str, output: StructType
    ) -> None:
        try:
            found = self._with_take_over(self.planner.plan_kept(node, query, output), node)
        except DbtBaseException as error:
            result = self._failed(node, error)
            if not because and str(node["unique_id"]) not in self._stopped:
                return
        else:
            result = self._record(node, found)
        if result.error or result.values.get("statements"):
            self._show(node, result, because)

    def _analysed(self, node: Node, because: tuple[str, ...]) -> tuple[str, StructType] | None:
        """Return a node's query and its schema. None if it is not known, or if its run stops."""
        try:
            analysed = self.planner.analyse(self.graph, node, self.types)
        except DbtBaseException as error:
            self._add_failure(node, because, error)
            return None
        if analysed is None:
            self._add_not_known(node, because, QUERY_NOT_KNOWN)
            return None
        unique_id = str(node["unique_id"])
        differences = contract_differences(self.planner.backend, node, analysed[1])
        self.contracts[unique_id] = differences
        if differences and self.stops_at_contracts:
            self._stopped.add(unique_id)
            self.effects.append(broken_contract(node, differences, because))
            return None
        return analysed

    def _add_failure(self, node: Node, because: tuple[str, ...], error: DbtBaseException) -> None:
        text = message_of(error)
        is_built = self.visits_all or self.planner.relation(node) is not None
        if not is_built and condition(text) == NOT_BUILT:
            # What else it reads is not built yet, either.
            return
        is_refused = isinstance(error, SchemaChangeRefused)
        not_known = self._not_known(node, text)
        if not_known or not (because or is_refused):
            # What it needs may not be built yet.
            self._add_not_known(node, because, not_known or first_line(text))
            return
        self._stopped.add(str(node["unique_id"]))
        lines = filter(None, text.splitlines()) if is_refused else [first_line(text)]
        self._add(node, Outcome.STOPS, because, tuple(lines))

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

    def _add_not_known(self, node: Node, because: tuple[str, ...], why: str) -> None:
        if because or self.planner.relation(node):
            self._add(node, Outcome.UNKNOWN, because, (why,))

    def _failed(self, node: Node, error: DbtBaseException) -> OperationResult:
        """Return the result of a node whose plan is an error, at which its run may stop."""
        text = message_of(error)
        not_known = self._not_known(node, text)
        if isinstance(error, _REFUSALS) and not not_known:
            self._stopped.add(str(node["unique_id"]))
        return OperationResult(full_name(node), error="\n".join(filter(None, (not_known, text))))

    def _record(self, node: Node, found: Planned) -> OperationResult:
        """Record what a plan changes, for what reads the table and for ``apply``."""
        if found.changes_types:
            self._set(node, found.schema, found.before)
        if found.change:
            self.changes[str(node["unique_id"])] = found.change
        return found.result

    def _show(self, node: Node, result: OperationResult, because: Collection[str]) -> None:
        reads = sorted(because)
        values = {"model": full_name(node), "reads_changed": reads, **result.values}
        shown = {**result.shown, READS: ", ".join(reads)}
        self.results[str(node["unique_id"])] = replace(result, values=values, shown=shown)

    def _with_take_over(self, found: Planned, node: Node) -> Planned:
        """Add the statements with which the run of a node takes over the table in its folder."""
        taken_over = None if self.planner.relation(node) else self.planner.taken_over(node)
        return with_take_over(found, *taken_over) if taken_over else found

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
        after &= set(ids.values() if self.visits_all else self.contracts) - self._stopped
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
            is_checked = is_view or materialization(node) in QUERIED
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
