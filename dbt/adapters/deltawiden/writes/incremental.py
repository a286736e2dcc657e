"""The write of an incremental model or a snapshot: what comes before it and after it."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from dbt_common.invocation import get_invocation_id

from dbt.adapters.deltawiden.config.model_spec import ModelSpec, spec_of_run
from dbt.adapters.deltawiden.config.project_macros import is_replaced
from dbt.adapters.deltawiden.config.strategies import MERGE, MICROBATCH, REPLACE_WHERE
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_path
from dbt.adapters.deltawiden.spark.settings import AUTO_MERGE
from dbt.adapters.deltawiden.sql.identifiers import as_list
from dbt.adapters.deltawiden.sql.queries import analyse_with_types, mentions
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.renames import renamed_schema
from dbt.adapters.deltawiden.writes.attempts import (
    Attempts,
    SchemaChangeFailed,
    Turns,
    is_cancelled,
    retry_with_new_plan,
)
from dbt.adapters.deltawiden.writes.batches import batch_of_model, refuse_shared_partitions
from dbt.adapters.deltawiden.writes.comments import warn_of_missing_in_plan
from dbt.adapters.deltawiden.writes.computed_rows import rows_computed
from dbt.adapters.deltawiden.writes.duplicate_keys import duplicate_keys_named
from dbt.adapters.deltawiden.writes.merge_actions import checked_clauses, kept_columns
from dbt.adapters.deltawiden.writes.model_query import full_query_of_run
from dbt.adapters.deltawiden.writes.model_views import ModelViews, readers_texts
from dbt.adapters.deltawiden.writes.model_write import ModelWrite
from dbt.adapters.deltawiden.writes.node_settings import overwriting
from dbt.adapters.deltawiden.writes.older_files import Rewritten, rewrite_older_files
from dbt.adapters.deltawiden.writes.refused import say_that_hooks_ran
from dbt.adapters.deltawiden.writes.response import store_response
from dbt.adapters.deltawiden.writes.run_steps import change_table, run_after_write, undo
from dbt.adapters.deltawiden.writes.snapshots import SnapshotPlanner
from dbt.adapters.deltawiden.writes.write_planner import Schemas, WritePlanner
from dbt.adapters.deltawiden.writing.file_formats import checked_format_query
from dbt.adapters.deltawiden.writing.merge import equal_keys, merge_conditions, merge_sql
from dbt.adapters.deltawiden.writing.replacement import Batch, ReplaceWhere, has_no_offset_changes

_NOT_A_FILTER = re.compile(
    "does not support overwrite by expression|translate expression to source filter", re.IGNORECASE
)
"""Spark's messages for a condition that it can't translate to a filter of the table's format."""

_SNAPSHOT_MACROS = {"snapshot_staging_table": "staging table", "snapshot_merge_sql": "MERGE"}
"""The macros that make the statements of a snapshot's write, and can run others before."""

Context = Mapping[str, Any]
"""dbt's context of a macro: the node's configuration, dbt's graph, and all macros."""


class TableWrites:
    """Writes models and snapshots to existing tables."""

    def __init__(
        self,
        backend: SqlBackend,
        planner: WritePlanner,
        snapshots: SnapshotPlanner,
        views: ModelViews,
    ) -> None:
        self._backend = backend
        self._planner = planner
        self._snapshots = snapshots
        self._views = views
        self._turns: defaultdict[str, Turns] = defaultdict(Turns)
        self._warned: set[tuple[str, str]] = set()

    def write(
        self,
        context: Context,
        existing: SparkRelation,
        target: SparkRelation,
        run_write: Callable[[ModelWrite], Any],
    ) -> None:
        """Plan and write an incremental model, again if another writer came first.

        Args:
            run_write: a macro that runs the statement of a write, as ``main``.

        Raises:
            SchemaChangeRefused: the table can't take the model's output.
            DbtDatabaseError: the engine refused a statement, or other writers came first each time.
        """
        spec = spec_of_run(context)
        replaces_rows = spec.is_written_by_project or existing.is_delta or existing.is_iceberg
        if spec.strategy == MICROBATCH and not replaces_rows:
            # No other batch may write after the check of ``refuse_shared_partitions``.
            self._turns[target.render()].collided()
        attempts = Attempts()

        def write_once(attempts: Attempts) -> None:
            write = self._prepare(context, spec, attempts, existing, target)
            attempts.early = None
            with (
                duplicate_keys_named(self._backend, write.source, target, spec),
                self._rows_computed(write) as rows,
                overwriting(self._backend, target, write.overwrite_mode),
                self._without_auto_merge(write),
            ):
                _run(replace(write, computed=rows), run_write)

        try:
            self._write(context, spec, target, write_once, attempts)
        except DbtRuntimeError as error:
            if attempts.early:
                undo(self._backend, attempts.early, error, _unique_id(context))
            raise

    def write_snapshot(
        self,
        context: Context,
        query: str,
        target: SparkRelation,
        columns: Mapping[str, str],
        hard_deletes: str,
        strategy: Any,
        run_write: Callable[..., Any],
    ) -> None:
        """Plan and write a snapshot to its table, again if another writer came first, as ``write``.

        Args:
            query: the query for the snapshot's rows, dbt's own columns included.
            columns: the names of dbt's own columns.
            hard_deletes: what the snapshot does about rows that its source has deleted.
            strategy: dbt's, for the columns of the query and of the table.
            run_write: a macro that makes the staging view of a plan and runs the MERGE, as
                ``main``. Its second argument is the strategy, or None if columns were renamed.
        """
        spec = spec_of_run(context)

        def write_once(attempts: Attempts) -> None:
            self._views.check_model(context, query)
            # Before the staging view: it compares with the table as it is when the view is made.
            config = context["config"]
            plan = self._snapshots.plan(query, target, spec, config, columns, hard_deletes)
            attempts.record_plan(plan)
            self._change_table(context, spec, plan, target)
            for name, what in _SNAPSHOT_MACROS.items():
                if is_replaced(context, name):
                    attempts.forbid_retry(what)
            # dbt has compared the columns before the renames, which another run can have made.
            run_write(plan, None if spec.renames else strategy, target, columns)

        self._write(context, spec, target, write_once, Attempts())

    def merge_sql(
        self,
        context: Context,
        target: SparkRelation,
        source: object,
        unique_key: str | Sequence[str] | None,
        columns: Sequence[Any] | None,
        predicates: Sequence[str] | None,
        updated: Sequence[str] | None,
    ) -> str:
        """Render a MERGE for a macro of the project, with the clauses of the model.

        The arguments are those of dbt's ``get_merge_sql``, and as for ``merge_sql``.
        """
        spec = replace(spec_of_run(context), has_one_key=isinstance(unique_key, str))
        clauses = checked_clauses(self._backend, spec, target)
        keys = filter(None, as_list(unique_key))
        conditions = merge_conditions(keys, predicates or (), clauses, _match_keys(context, spec))
        kept: Iterable[str] = ()
        if columns is not None or updated is not None:
            kept = kept_columns(self._backend.snapshot(target), columns or (), updated)
        return merge_sql(target.render(), str(source), conditions, clauses, columns, updated, kept)

    def _write(
        self,
        context: Context,
        spec: ModelSpec,
        table: SparkRelation,
        write_once: Callable[[Attempts], Any],
        attempts: Attempts,
    ) -> None:
        """Write, again if another writer came first, and do what comes after the write."""
        try:
            retry_with_new_plan(write_once, self._turns[table.render()], attempts)
            appends = spec.strategy == "append"
            run_after_write(self._backend, attempts.plan, _unique_id(context), appends)
        except Exception as error:
            # The type changes stay. The next run makes none, so that it would rewrite no file.
            if not is_cancelled(error):
                self._rewrite_older_files(context, spec, attempts, table)
            say_that_hooks_ran(error, context.get("pre_hooks") or ())
            raise
        rewritten = self._rewrite_older_files(context, spec, attempts, table)
        if attempts.changes or attempts.renamed or attempts.plan.backfilled:
            store_response(context, attempts, rewritten)
        if attempts.plan.dropped:
            self._log_stale(context, attempts.plan, True)

    def _rewrite_older_files(
        self, context: Context, spec: ModelSpec, attempts: Attempts, table: SparkRelation
    ) -> Rewritten:
        if not attempts.changes:
            return Rewritten()
        limit = spec.policy.rewrite_widened_files
        with self._turns[table.render()].turn():
            rewritten = rewrite_older_files(
                self._backend, table, attempts.changes, limit, _unique_id(context)
            )
        if rewritten.text:
            context["log"](rewritten.text, info=True)
        return rewritten

    def _prepare(
        self,
        context: Context,
        spec: ModelSpec,
        attempts: Attempts,
        existing: SparkRelation,
        target: SparkRelation,
    ) -> ModelWrite:
        """Do all that comes before the statement of a write, once for each attempt.

        Rename what the model's query needs, create the view of its rows, plan the write by both
        schemas, and run the steps before the write. The view is a new one, because another writer
        may have changed the types of the tables that it reads.
        """
        # The metastore and the table's log are read while Spark analyses the model's query.
        table_schema = cache(self._backend.prefetch_schema(existing))
        if early := spec.renames and self._rename_for_query(context, spec, attempts, existing):
            attempts.early = early
            table_schema = cache(self._backend.prefetch_schema(existing))
        query = str(context["_deltawiden_source_query"]())
        checked = checked_format_query(self._backend, query, spec, existing, table_schema)
        source = context["_deltawiden_create_source_view"](checked)
        self._views.check_model(context, query)
        schemas = Schemas(self._backend.schema(source), table_schema())
        full_query = partial(full_query_of_run, context, self._views.check_model)
        plan = self._planner.plan_incremental(schemas, existing, spec, query, full_query)
        attempts.record_plan(plan)
        write = ModelWrite(spec, plan, source, existing, target)
        if not write.is_custom:
            write = replace(write, replaced=self._replaced(context, write))
        self._change_table(context, spec, plan, existing)
        if write.is_custom or (write.is_merge_replaced and is_replaced(context, "get_merge_sql")):
            attempts.forbid_retry("strategy" if write.is_custom else "MERGE")
        return write if spec.is_written_by_project else self._rendered_here(context, write)

    def _rendered_here(self, context: Context, write: ModelWrite) -> ModelWrite:
        """Return a write with what its statement needs to know of the table after the steps."""
        spec, plan = write.spec, write.plan
        if spec.strategy == MERGE:
            clauses = plan.checked_clauses or checked_clauses(self._backend, spec, write.target)
            return replace(write, checked_clauses=clauses, match_keys=_match_keys(context, spec))
        can_replace_where = not plan.write.computed
        # Iceberg has the values of a condition, and no text.
        if can_replace_where and write.replaced is not None and write.existing.is_delta:
            can_replace_where = self._has_exact_text(write.replaced)
        return replace(write, can_replace_where=can_replace_where)

    def _rename_for_query(
        self, context: Context, spec: ModelSpec, attempts: Attempts, table: SparkRelation
    ) -> Plan | None:
        """Rename columns before there is a view, if the model needs it. Return what was done."""
        schema = self._backend.table_schema(table)
        renamed = renamed_schema(spec.renames, schema)
        query = str(context["_deltawiden_model_query"]())
        path = relation_path(table)
        if renamed is schema or not mentions(query, path):
            return None
        analysed, produced = analyse_with_types(query, {path: renamed}, self._backend.query_schema)
        self._views.check_model(context, analysed)
        plan = self._planner.plan_incremental(Schemas(produced, schema), table, spec, query)
        # The contract, for example, is checked before the other steps.
        plan = plan.only_renames()
        attempts.record_plan(plan)
        self._change_table(context, spec, plan, table)
        return plan

    def _replaced(self, context: Context, write: ModelWrite) -> Batch | ReplaceWhere | None:
        spec, columns = write.spec, write.plan.write.columns
        if spec.strategy == REPLACE_WHERE:
            return ReplaceWhere(spec.predicates, columns)
        if spec.strategy != MICROBATCH:
            return None
        batch = batch_of_model(columns, context["config"], context["model"], spec.predicates)
        if not (write.existing.is_delta or write.existing.is_iceberg):
            refuse_shared_partitions(
                self._backend, batch, spec.partition_by, write.source, write.target
            )
        return batch

    def _change_table(
        self, context: Context, spec: ModelSpec, plan: Plan, table: SparkRelation
    ) -> None:
        # Warn before the first change: under --warn-error a warning stops the run. Each text comes
        # once a run, however many batches a model has.
        for text in report.warning_texts(plan, spec.policy.on_lossy_write):
            if (warning := (get_invocation_id(), text)) not in self._warned:
                context["exceptions"]["warn"](text)
                self._warned.add(warning)
        warn_of_missing_in_plan(context, plan, table)
        try:
            change_table(self._backend, plan, table, _unique_id(context))
        except SchemaChangeFailed as error:
            # These steps stay. Another attempt does not plan them again.
            self._log_changes(context, replace(plan, steps=tuple(error.done)))
            raise
        self._log_changes(context, plan)

    def _log_changes(self, context: Context, plan: Plan) -> None:
        """Log what the steps of a plan have done, and the views that have to follow."""
        texts = readers_texts(plan, _unique_id(context), context["graph"])
        own = report.enabled_text(plan), report.changes_text(plan)
        for text in filter(None, (*own, *texts)):
            context["log"](text, info=True)
        # A new column changes no view. It can make a name in a query ambiguous, which is rare, and
        # which is found only in a list of all views.
        has_others = bool(plan.renamed or any(len(new.path) > 1 for new in plan.new))
        if plan.changes or has_others:
            self._log_stale(context, plan, has_others)

    def _log_stale(self, context: Context, plan: Plan, columns: bool) -> None:
        made = context.get("selected_resources") or ()
        graph, changed_by = context["graph"], _unique_id(context)
        self._views.log_stale([plan.table], graph, columns, made, changed_by)

    def _rows_computed(self, write: ModelWrite) -> AbstractContextManager[str]:
        view = str(write.source.identifier)
        return rows_computed(self._backend, view, write.rows_to_compute, write.target)

    def _without_auto_merge(self, write: ModelWrite) -> AbstractContextManager[None]:
        """Keep Delta from widening the table, if the statement in the block leaves casts to it.

        The session can let Delta change the table's types instead of casting the values.
        """
        if write.existing.is_delta and write.leaves_casts:
            return self._backend.with_setting(AUTO_MERGE, "false")
        return nullcontext()

    def _has_exact_text(self, replaced: Batch | ReplaceWhere) -> bool:
        """Return whether Delta, which reads a condition as text, reads the one that is meant."""
        where = replaced.also if isinstance(replaced, Batch) else replaced
        if where and (where.has_functions or where.lists_decimals):
            return False
        if where and where.uses_moments and not has_no_offset_changes(self._backend.time_zone()):
            return False
        query = replaced.text_check_query if isinstance(replaced, Batch) else ""
        return not query or bool(self._backend.fetch_rows(query)[0][0])


def _run(write: ModelWrite, run_write: Callable[[ModelWrite], Any]) -> None:
    try:
        run_write(write)
    except DbtDatabaseError as error:
        # Spark plans the statement before it runs, so nothing was written.
        if not (write.replaced and _NOT_A_FILTER.search(str(error.msg))):
            raise
        run_write(replace(write, can_replace_where=False))


def _match_keys(context: Context, spec: ModelSpec) -> Callable[[str, str], str]:
    """Return what compares a key: as in dbt-adapters 1.24, a macro for a key that is not a list."""
    macro = context.get("get_merge_unique_key_match") if spec.has_one_key else None
    return equal_keys if macro is None else lambda *names: str(macro(*names)).strip()


def _unique_id(context: Context) -> str:
    return str(context["model"]["unique_id"])
