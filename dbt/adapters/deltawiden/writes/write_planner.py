"""The plan for a table before a write."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError, DbtRuntimeError
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.config.clustering import changed_clustering
from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.policy import OnSchemaChange
from dbt.adapters.deltawiden.config.strategies import (
    DELETE_INSERT,
    INSERT_OVERWRITE,
    MERGE,
    MICROBATCH,
    REPLACE_WHERE,
)
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_path, relation_sql
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import Path, columns_named
from dbt.adapters.deltawiden.sql.queries import mentions, with_types
from dbt.adapters.deltawiden.sql.side_by_side import AmbiguousName
from dbt.adapters.deltawiden.views.stale_views import reads_table
from dbt.adapters.deltawiden.widening.clustering import plan_clustering
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_changes, plan_write_alone, refused_keys
from dbt.adapters.deltawiden.widening.renames import plan_renames, renamed_schema
from dbt.adapters.deltawiden.widening.schema_diff import compare, schema_at_write
from dbt.adapters.deltawiden.widening.self_reference import (
    grows_again,
    self_reference_text,
    widened_queries,
)
from dbt.adapters.deltawiden.widening.steps import ClusterBy, ClusterByHand, Stage
from dbt.adapters.deltawiden.widening.table_properties import plan_properties, refused_properties
from dbt.adapters.deltawiden.writes.backfill import Backfill
from dbt.adapters.deltawiden.writes.merge_actions import (
    checked_clauses,
    kept_columns,
    updated_columns,
)
from dbt.adapters.deltawiden.writes.model_query import FullQuery
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused, require_not_refused
from dbt.adapters.deltawiden.writes.table_checks import (
    check_format,
    check_without_version,
    columns_of_condition,
    columns_of_rows,
    copies_rows,
    refuse_for_files,
    refused_condition,
    refused_new_keys,
    require_kept,
    require_table_partitions,
    value_check,
)
from dbt.adapters.deltawiden.writing.columns import match_columns
from dbt.adapters.deltawiden.writing.replacement import event_time_column
from dbt.adapters.deltawiden.writing.rows_kept import require_generated_kept
from dbt.adapters.deltawiden.writing.value_check import ValueCheck

_BY_KEY = (MERGE, DELETE_INSERT)
"""The strategies that find the rows of a unique key by a MERGE."""


class Schemas(NamedTuple):
    """The columns of a model's output, and those of its table."""

    output: StructType
    table: StructType


class WritePlanner:
    """Plans what a table needs before a write."""

    def __init__(self, backend: SqlBackend) -> None:
        self._backend = backend

    def plan(
        self,
        schemas: Schemas,
        table: SparkRelation,
        spec: ModelSpec,
        keys: frozenset[str] = frozenset(),
        full_query: FullQuery | None = None,
    ) -> Plan:
        """Decide what a table needs before a model's output is written to it.

        Args:
            keys: the columns, in lower case, by which the write finds rows.
            full_query: the query for ``backfill_new_columns``. None if it is not known.

        Returns:
            A plan that is not refused. Its statements have not run.

        Raises:
            SchemaChangeRefused: the plan is refused.
            MomentsMoved: the write would move rows to other partitions.
            ValuesRecomputed: a step would change generated columns of rows that exist.
        """
        if not schemas.output.fields:
            raise SchemaChangeRefused(
                f"Spark says that the query of {spec.name} has no columns. Under sync_all_columns, "
                f"all columns of {relation_sql(table)} would be dropped. Nothing was changed or "
                "written. Check what the query selects with dbt show."
            )
        snapshot = self._backend.snapshot(table, columns_of_rows(table, schemas.table))
        properties, warnings = plan_properties(spec.tblproperties, snapshot)
        if properties:
            snapshot = snapshot.with_properties(properties)
        renames = plan_renames(spec.renames, schemas.output, snapshot)
        snapshot, stored = renames.snapshot, renames.snapshot.schema
        check = value_check(self._backend, spec.name, table, stored) if spec.checks_values else None
        plan = _changes(schemas.output, spec, snapshot, check, keys)
        plan = _clustered(plan.with_properties(properties), snapshot, spec, keys)
        if spec.backfills:
            plan = Backfill(plan, snapshot, spec, self._backend, check).planned(full_query)
        plan = _refused(renames.added_to(plan), spec, snapshot)
        plan = plan.refusing(refused_new_keys(spec, plan, self._backend))
        plan = replace(require_not_refused(plan), warnings=warnings)
        if spec.strategy == MERGE and not spec.is_written_by_project:
            plan = _keeping_generated(plan, spec, snapshot)
        if spec.is_empty:
            plan = plan.without_drops()
        if spec.checks_values and (copies_rows(spec, stored) or plan.copies_rows):
            require_kept(self._backend, table, schemas.table)
        if plan.copies_rows:
            require_generated_kept(self._backend, table)
        if not (spec.checks_values or spec.ignores_values):
            check = check_without_version(spec.name, table, stored)
            plan = replace(plan, unchecked=_unchecked(plan, schemas.output, stored, check))
        return plan

    def plan_incremental(
        self,
        schemas: Schemas,
        table: SparkRelation,
        spec: ModelSpec,
        query: str,
        full_query: FullQuery | None = None,
    ) -> Plan:
        """Decide what a table needs before an incremental model is written to it, as ``plan``.

        Args:
            query: the model's query. Empty if it is not known: then it is not checked whether the
                model widens its own input.

        Raises:
            SchemaChangeRefused: the plan is refused. All refusals are in the message.
            DbtConfigError: a setting of the session or an option of the table can lose values.
            CompilationError: the model lacks a column of its unique key, or the statement of its
                strategy can't be rendered for the columns of the table.
            DbtDatabaseError: an ``update set`` of its MERGE is not valid.
        """
        if not table.is_delta:
            check_format(spec, table)
            refuse_for_files(self._backend, table)
        keys = columns_named(spec.unique_key)
        stored = renamed_schema(spec.renames, schemas.table)
        if spec.strategy == REPLACE_WHERE:
            keys = columns_of_condition(spec.predicates, stored)
        elif spec.strategy == MICROBATCH:
            keys |= columns_of_condition(spec.predicates, stored)
        plan = self.plan(schemas, table, spec, keys, full_query)
        overwrites = spec.strategy == INSERT_OVERWRITE and not spec.is_written_by_project
        if overwrites and spec.partition_by and (table.is_iceberg or plan.before):
            require_table_partitions(self._backend, spec, table)
        if spec.strategy in _BY_KEY:
            _check_unique_key(plan, spec.unique_key)
        if spec.strategy == MICROBATCH and not spec.is_written_by_project:
            event_time_column(plan.write.columns, spec.event_time, spec.batch_size == "hour")
        if spec.strategy == MERGE and not spec.is_written_by_project:
            updated_columns(spec, plan.write)
            after = schema_at_write(stored, plan.changes, plan.new) if plan.before else None
            clauses = checked_clauses(self._backend, spec, table, stored, after)
            plan = replace(plan, checked_clauses=None if plan.before else clauses)
        if query:
            self._refuse_self_reference(plan, table, query)
        return plan

    def _refuse_self_reference(self, plan: Plan, table: SparkRelation, query: str) -> None:
        """Refuse a model whose output would become wider with each run, before any statement."""
        if not plan.changes:
            return
        types = {column.name: column.type for column in plan.write.columns}
        after = StructType([StructField(*column) for column in types.items()])
        path = relation_path(table)
        queries = widened_queries(query, path, types)
        if not queries and self._reads_by_name_alone(query, path):
            queries = [with_types(query, {path[-1:]: (path[-1], after)})]
        for widened in queries:
            # At most one of the two queries is valid: with an alias for the table, or without.
            output = self._backend.schema_if_valid(widened)
            if output is not None:
                growing = grows_again(plan.changes, output, after)
                if growing:
                    raise SchemaChangeRefused(self_reference_text(plan.table, growing))
                return

    def _reads_by_name_alone(self, query: str, table: Path) -> bool:
        """Return whether a query reads a table of the session's current schema by its last name."""
        if mentions(query, table[-1:]):
            with suppress(DbtRuntimeError):
                plan = self._backend.analyse(query).text
                return reads_table(plan, table, self._backend.current_catalog)
        return False


def _changes(
    output: StructType,
    spec: ModelSpec,
    snapshot: TableSnapshot,
    check: ValueCheck | None,
    keys: frozenset[str],
) -> Plan:
    """Plan the changes of columns and types that ``on_schema_change`` allows."""
    try:
        difference = compare(output, snapshot.schema)
    except AmbiguousName as error:
        raise SchemaChangeRefused(str(error)) from error
    if difference and spec.policy.on_schema_change is not OnSchemaChange.IGNORE:
        clustering = changed_clustering(spec.clustering, snapshot)
        known = snapshot if clustering is None else snapshot.with_clustering(clustering)
        return plan_changes(difference, output, spec.policy, known, check, keys)
    # Reading which columns Delta computes can take statements: only if one may be missing.
    computed = snapshot.computed_columns if difference.missing_columns else frozenset()
    return plan_write_alone(
        difference, output, snapshot.schema, snapshot.name, computed, check=check, keys=keys
    )


def _clustered(plan: Plan, snapshot: TableSnapshot, spec: ModelSpec, keys: frozenset[str]) -> Plan:
    """Add the steps that cluster the table, also after a write that replaces all of its rows.

    Delta's WriteIntoDelta: an overwrite of the whole table replaces its clustering columns by those
    of the statement, which can't have any.
    """
    clustering = changed_clustering(spec.clustering, snapshot)
    if clustering is not None:
        plan = plan_clustering(plan, clustering, snapshot)
    if not (snapshot.is_delta and _replaces_table(spec, keys)):
        return plan
    columns = snapshot.clustering_columns if spec.clustering is None else spec.clustering
    step = ClusterByHand if spec.clustering is None else ClusterBy
    return plan.adding(step(plan.table, columns, Stage.CLUSTERING_AGAIN)) if columns else plan


def _keeping_generated(plan: Plan, spec: ModelSpec, snapshot: TableSnapshot) -> Plan:
    """Let the MERGE keep the generated columns of rows that it updates without their inputs."""
    write = plan.write
    updated = updated_columns(spec, write)
    if updated is None and not write.computed:
        return plan  # It sets all columns.
    # A column that the plan drops is not there any more at the write.
    there = {*(column.name for column in write.columns), *write.computed}
    kept = (name for name in kept_columns(snapshot, write.columns, updated) if name in there)
    return replace(plan, write=replace(write, kept=tuple(kept)))


def _refused(plan: Plan, spec: ModelSpec, snapshot: TableSnapshot) -> Plan:
    """Add the refusals that do not depend on the difference of the schemas."""
    properties = refused_properties(plan, spec, snapshot)
    keys = refused_keys(plan.write) if spec.strategy in _BY_KEY else ()
    return plan.refusing((*properties, *refused_condition(spec, plan.write, snapshot), *keys))


def _replaces_table(spec: ModelSpec, keys: frozenset[str]) -> bool:
    """Return whether a write replaces all rows, without regard to partitions."""
    if spec.strategy == REPLACE_WHERE:
        return not keys  # Spark drops a condition that is always true.
    return spec.strategy == INSERT_OVERWRITE and not spec.partition_by


def _unchecked(
    plan: Plan, output: StructType, stored: StructType, check: ValueCheck
) -> tuple[str, ...]:
    """Return the columns that ``on_lossy_write: error`` would check."""
    after = schema_at_write(stored, plan.changes, plan.new)
    columns = match_columns(output, after, check=check).columns
    return tuple(column.name for column in columns if column.is_checked)


def _check_unique_key(plan: Plan, unique_key: Iterable[str]) -> None:
    """Refuse a key that the model lacks: Delta's error is "Cannot find main error class"."""
    names = [column.name for column in plan.write.columns if column.in_source]
    folded = {name.lower() for name in names}
    for key in unique_key:
        # Only Delta can read what is not a plain name: a path, an expression, a quoted name.
        if re.fullmatch(r"\w+", key) and key.lower() not in folded:
            raise CompilationError(
                f"unique_key: the model has no column {key}; it has {', '.join(names)}"
            )
