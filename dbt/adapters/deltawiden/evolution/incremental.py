"""The write of an incremental model or a snapshot: what comes before it and after it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtDatabaseError
from dbt_common.invocation import get_invocation_id

from dbt.adapters.deltawiden.config.merge_clauses import read_merge_clauses
from dbt.adapters.deltawiden.config.policy import OnLossyWrite, Policy
from dbt.adapters.deltawiden.config.project_macros import is_replaced
from dbt.adapters.deltawiden.config.strategies import (
    DELETE_INSERT,
    MICROBATCH,
    REPLACE_WHERE,
    STRATEGIES,
    configured_predicates,
    strategy_macro,
)
from dbt.adapters.deltawiden.config.validation import names_listed, read_model_policy
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.evolution.attempts import Attempts, Turns, retry_with_new_plan
from dbt.adapters.deltawiden.evolution.batches import batch_of_model, refuse_shared_partitions
from dbt.adapters.deltawiden.evolution.duplicate_keys import duplicate_keys_named
from dbt.adapters.deltawiden.evolution.evolution import TableEvolution
from dbt.adapters.deltawiden.evolution.file_formats import checked_format_query
from dbt.adapters.deltawiden.evolution.incremental_plan import plan_incremental
from dbt.adapters.deltawiden.evolution.model_views import ModelViews
from dbt.adapters.deltawiden.evolution.older_files import Rewritten, rewrite_older_files
from dbt.adapters.deltawiden.evolution.snapshots import SnapshotEvolution
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.writing.batch import Batch
from dbt.adapters.deltawiden.writing.replacement import ReplaceWhere, has_no_offset_changes

_AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"
_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
_NOT_A_FILTER = "does not support overwrite by expression"
"""Spark's message for a condition that it can't translate to a filter of the table's format."""

_MERGE_MACROS = ("get_merge_sql", "get_merge_update_columns")
"""The macros that decide which values a MERGE writes, and that a project can replace."""

Context = Mapping[str, Any]
"""dbt's context of a macro: the node's configuration, dbt's graph, and all macros."""


@dataclass(frozen=True)
class PreparedWrite:
    """A write that has been planned, to a table that is ready for it.

    Attributes:
        plan: the plan. Its steps before the write have run.
        strategy: the incremental strategy.
        source: the temporary view of the model's output.
        existing: the table as it was found.
        target: the table.
        replaced: the rows that a microbatch model or the strategy ``replace_where`` replaces.
        is_custom: whether the strategy is a macro of the project.
        can_replace_where: whether ``insert into ... replace where`` can write it.
        writes_every_row: whether a MERGE has no conditions that leave rows of the model out.
        is_merge_replaced: whether a macro of the project renders the MERGE. It is not known which
            values it writes, so all values of its source are checked.
    """

    plan: Plan
    strategy: str
    source: SparkRelation
    existing: SparkRelation
    target: SparkRelation
    replaced: Batch | ReplaceWhere | None = None
    is_custom: bool = False
    can_replace_where: bool = True
    writes_every_row: bool = True
    is_merge_replaced: bool = False


class IncrementalWrites:
    """Writes models to existing tables.

    Args:
        evolution: plans changes of tables, and runs them.
        snapshots: plans changes of the tables of snapshots.
        views: knows the views that models read, and those over tables.
    """

    def __init__(
        self,
        backend: SqlBackend,
        evolution: TableEvolution,
        snapshots: SnapshotEvolution,
        views: ModelViews,
    ) -> None:
        self._backend = backend
        self._evolution = evolution
        self._snapshots = snapshots
        self._views = views
        self._turns: defaultdict[str, Turns] = defaultdict(Turns)
        self._warned: set[tuple[str, str]] = set()

    def write(
        self,
        context: Context,
        existing: SparkRelation,
        target: SparkRelation,
        strategy: str,
        run_write: Callable[[PreparedWrite], Any],
    ) -> None:
        """Plan and write an incremental model, again if another writer came first.

        Args:
            strategy: the incremental strategy.
            run_write: a macro that runs the statement of a prepared write, as ``main``.

        Raises:
            SchemaChangeRefused: the table can't take the model's output.
            DbtDatabaseError: the engine refused a statement, or other writers came first each time.
        """

        def write_once(attempts: Attempts) -> None:
            prepared = self._prepare(context, attempts, existing, target, strategy)
            mode = _overwrite_mode(prepared, context["config"])
            with (
                duplicate_keys_named(self._backend, prepared.source, target, context["config"]),
                self._overwriting(target, mode),
                self._without_evolution(prepared.plan, context["config"]),
            ):
                _run(prepared, run_write)

        attempts = retry_with_new_plan(write_once, self._turns[target.render()])
        self._evolution.run_after_write(attempts.plan, _unique_id(context))
        self._finish(context, attempts.changes, target)

    def write_snapshot(
        self,
        context: Context,
        query: str,
        target: SparkRelation,
        columns: Mapping[str, str],
        hard_deletes: str,
        run_write: Callable[[Plan], Any],
    ) -> None:
        """Plan and write a snapshot, again if another writer came first.

        Args:
            query: the query for the snapshot's rows, dbt's own columns included.
            target: the existing table.
            columns: the names of dbt's own columns.
            hard_deletes: what the snapshot does about rows that its source has deleted.
            run_write: a macro that makes the staging view of a plan and runs the MERGE, as
                ``main``.

        Raises:
            SchemaChangeRefused: the table can't take the snapshot's rows.
            DbtDatabaseError: the engine refused a statement, or other writers came first each time.
        """

        def write_once(attempts: Attempts) -> None:
            self._views.check(context, query)
            # Before the staging view: it compares with the table as it is when the view is made.
            config = context["config"]
            plan = self._snapshots.plan(query, target, config, columns, hard_deletes)
            attempts.record_plan(plan)
            self._change_table(context, plan, target)
            run_write(plan)

        attempts = retry_with_new_plan(write_once, self._turns[target.render()])
        self._finish(context, attempts.changes, target)

    def _finish(
        self, context: Context, changes: Sequence[TypeChange], table: SparkRelation
    ) -> None:
        """Rewrite older files after a widening, and store the response of the write."""
        if not changes:
            return
        config = context["config"]
        limit = read_model_policy(config, config.model.unique_id).rewrite_widened_files
        with self._turns[table.render()].turn():
            rewritten = rewrite_older_files(
                self._backend, table, changes, limit, _unique_id(context)
            )
        if rewritten.text:
            context["log"](rewritten.text, info=True)
        _store_response(context, changes, rewritten)

    def _prepare(
        self,
        context: Context,
        attempts: Attempts,
        existing: SparkRelation,
        target: SparkRelation,
        strategy: str,
    ) -> PreparedWrite:
        config = context["config"]
        # The metastore and the table's log are read while Spark analyses the model's query.
        table_schema = self._backend.prefetch_schema(existing)
        checked_query = partial(checked_format_query, self._backend, config=config)
        source, query = context["_deltawiden_create_source_view"](checked_query)
        self._views.check(context, query)
        schemas = self._backend.schema(source), table_schema()
        policy = read_model_policy(config, config.model.unique_id)
        plan = plan_incremental(
            self._evolution, schemas, existing, policy, config, config.model.name, strategy, query
        )
        attempts.record_plan(plan)
        is_custom = _is_custom(strategy, context)
        replaced = None
        if not is_custom:
            replaced = self._replaced(context, plan, strategy, source, target, existing)
        self._change_table(context, plan, existing)
        if is_custom:
            # The statements of a strategy of the project's own are not known: the first may have
            # written.
            attempts.forbid_retry()
        can_replace_where = not plan.write.omits_computed_columns and self._has_exact_text(replaced)
        return PreparedWrite(
            plan=plan,
            strategy=strategy,
            source=source,
            existing=existing,
            target=target,
            replaced=replaced,
            is_custom=is_custom,
            can_replace_where=can_replace_where,
            writes_every_row=read_merge_clauses(config).writes_every_row,
            is_merge_replaced=any(is_replaced(context, name) for name in _MERGE_MACROS),
        )

    def _replaced(
        self,
        context: Context,
        plan: Plan,
        strategy: str,
        source: SparkRelation,
        target: SparkRelation,
        existing: SparkRelation,
    ) -> Batch | ReplaceWhere | None:
        config = context["config"]
        if strategy == MICROBATCH:
            batch = batch_of_model(plan.write.columns, config, context["model"])
            # Iceberg's partitions can be functions of columns, which no query can name.
            if not (existing.is_delta or existing.is_iceberg):
                names = names_listed(config.get("partition_by"))
                refuse_shared_partitions(self._backend, batch, names, source, target)
            return batch
        if strategy == REPLACE_WHERE:
            predicates = names_listed(configured_predicates(config))
            return ReplaceWhere(predicates, plan.write.columns)
        return None

    def _change_table(self, context: Context, plan: Plan, table: SparkRelation) -> None:
        # Warn before the first change: under --warn-error a warning stops the run.
        config = context["config"]
        for text in self._warnings(plan, read_model_policy(config, config.model.unique_id)):
            context["exceptions"]["warn"](text)
            self._warned.add((get_invocation_id(), text))
        self._evolution.run_before_write(plan, _unique_id(context))
        if (plan.new or plan.changes) and not table.is_delta:
            # Spark and Iceberg cache what they have read of such a table, its columns included.
            self._backend.execute(f"refresh table {table}")
        changes = report.changes_text(plan)
        if changes:
            context["log"](changes, info=True)
        if plan.changes:
            self._views.log_stale([plan.table], context["graph"])

    @contextmanager
    def _overwriting(self, table: SparkRelation, mode: str) -> Iterator[None]:
        """Run the statement in the block with a mode of overwriting, for this statement alone."""
        if not mode:
            yield
            return
        with self._backend.with_setting(_OVERWRITE_MODE, mode):
            yield
        if not table.is_delta:
            # Spark and Iceberg cache the files of such a table for each session.
            self._backend.execute(f"refresh table {table}")

    @contextmanager
    def _without_evolution(self, plan: Plan, config: Any) -> Iterator[None]:
        """Keep Delta from widening the table, if the statement in the block casts no value itself.

        If lossy writes are accepted, Spark casts the values, unless the session lets Delta change
        the table's types instead.
        """
        policy = read_model_policy(config, config.model.unique_id)
        if not plan.lossy or policy.on_lossy_write is OnLossyWrite.ERROR:
            yield
            return
        with self._backend.with_setting(_AUTO_MERGE, "false"):
            yield

    def _warnings(self, plan: Plan, policy: Policy) -> list[str]:
        """Return what to warn of; each text once a run, however many batches a model has."""
        texts = []
        if plan.ignored_columns:
            texts.append(report.ignored_columns_text(plan))
        if plan.lossy and policy.on_lossy_write is OnLossyWrite.WARN:
            texts.append(report.lossy_text(plan, OnLossyWrite.WARN))
        run = get_invocation_id()
        return [text for text in texts if (run, text) not in self._warned]

    def _has_exact_text(self, replaced: Batch | ReplaceWhere | None) -> bool:
        """Return whether Delta, which reads a condition as text, reads the one that is meant."""
        if isinstance(replaced, ReplaceWhere):
            if replaced.has_functions or replaced.lists_decimals:
                return False
            return not replaced.uses_moments or has_no_offset_changes(self._backend.time_zone())
        query = replaced.text_check_query if replaced is not None else ""
        return not query or bool(self._backend.fetch_rows(query)[0][0])


def _run(prepared: PreparedWrite, run_write: Callable[[PreparedWrite], Any]) -> None:
    try:
        run_write(prepared)
    except DbtDatabaseError as error:
        # Spark plans the statement before it runs, so nothing was written.
        if not isinstance(prepared.replaced, ReplaceWhere) or _NOT_A_FILTER not in str(error.msg):
            raise
        run_write(replace(prepared, can_replace_where=False))


def _overwrite_mode(prepared: PreparedWrite, config: Any) -> str:
    """Return the mode of overwriting for a statement. Empty if the session's setting decides."""
    if prepared.strategy == "insert_overwrite":
        return "dynamic" if config.get("partition_by") else ""
    if prepared.strategy == "microbatch" and not prepared.existing.is_delta:
        return "dynamic"
    # If a condition is always true, Spark drops it, and Delta would replace only some partitions.
    return "static" if prepared.replaced is not None and prepared.can_replace_where else ""


def _is_custom(strategy: str, context: Context) -> bool:
    """Return whether a macro of the project makes the statement of a strategy."""
    if strategy not in (REPLACE_WHERE, DELETE_INSERT, MICROBATCH):
        return strategy not in STRATEGIES
    name = strategy_macro(strategy)
    return name in context and is_replaced(context, name)


def _unique_id(context: Context) -> str:
    return str(context["model"]["unique_id"])


def _store_response(context: Context, changes: Iterable[TypeChange], rewritten: Rewritten) -> None:
    """Add the type changes to the response of the write, which dbt keeps in run_results.json."""
    written = context["load_result"]("main")
    response = DeltaWidenResponse(
        **written["response"].to_dict(),
        type_changes=[change.value for change in changes],
        rewritten_files=rewritten.files,
        rewritten_bytes=rewritten.bytes,
    )
    context["store_result"]("main", response=response, agate_table=written["table"])


@dataclass
class DeltaWidenResponse(AdapterResponse):
    """The response of a model's write, which dbt stores in run_results.json.

    Attributes:
        type_changes: the type changes made before the write, each with ``path``, ``from``, ``to``.
        rewritten_files, rewritten_bytes: the files from before them that were rewritten after it.
    """

    type_changes: list[dict[str, Any]] = field(default_factory=list)
    rewritten_files: int = 0
    rewritten_bytes: int = 0
