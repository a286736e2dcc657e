"""What can't be written to the table that a model has, and the check of the values that are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError
from pyspark.sql.types import CharType, StructType, VarcharType

from dbt.adapters.deltawiden.config.file_options import stored_options, unsafe_options
from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.policy import invalid_configuration
from dbt.adapters.deltawiden.config.strategies import (
    DELETE_INSERT,
    MERGE,
    MICROBATCH,
    NO_MERGE,
    NOT_MERGED,
    REPLACE_WHERE,
    only_of_delta,
)
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.partition_columns import partition_columns
from dbt.adapters.deltawiden.delta.relations import provider, relation_sql
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.spark.unsafe_settings import REFUSED_FOR_FILES, refuse_settings
from dbt.adapters.deltawiden.sql.describe_parser import has_partitions
from dbt.adapters.deltawiden.sql.identifiers import (
    Path,
    columns_named,
    quote,
    quote_once,
    read_name,
)
from dbt.adapters.deltawiden.sql.references import uses
from dbt.adapters.deltawiden.sql.types import type_sql
from dbt.adapters.deltawiden.widening.backfill import FillColumns
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import REBUILD, Reason, Refusal
from dbt.adapters.deltawiden.writes.batches import require_partitions
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused
from dbt.adapters.deltawiden.writing.columns import Write
from dbt.adapters.deltawiden.writing.partition_values import (
    MomentsMoved,
    has_moments,
    require_moments_kept,
    shifts_moments,
)
from dbt.adapters.deltawiden.writing.value_check import ValueCheck

_COPYING = (DELETE_INSERT, "")
"""The strategies whose statements also write other rows of files again. A snapshot has none."""

_REBUILT = (
    "The table has it since it was created. Set on_lossy_write: warn to write such values all the "
    f"same. Or rebuild the table with {REBUILD}. It then has only the rows that the model's query "
    "returns."
)


def value_check(
    backend: SqlBackend,
    model: str,
    table: SparkRelation,
    schema: StructType,
    partitioned_by: frozenset[str] | None = None,
) -> ValueCheck:
    """Return the check of what a model writes to a table with these partitions, in lower case."""
    check = check_without_version(model, table, schema, partitioned_by)
    partitions = (f.dataType for f in schema.fields if f.name.lower() in check.partition_columns)
    if table.is_delta and any(map(has_moments, partitions)):
        return replace(check, shifts_moments=shifts_moments(backend.engine().delta))
    return check


def check_without_version(
    model: str,
    table: SparkRelation,
    schema: StructType,
    partitioned_by: frozenset[str] | None = None,
) -> ValueCheck:
    """Return ``value_check`` without what Delta's version decides: the condition on a timestamp."""
    if partitioned_by is None:
        is_text = not (table.is_iceberg or table.is_hudi)  # See ``keeps_partitions_as_text``.
        partitioned_by = partition_columns(schema) if is_text else frozenset()
    texts = (CharType,) if table.is_delta or table.is_iceberg else (CharType, VarcharType)
    return ValueCheck(model, relation_sql(table), partitioned_by, texts=texts)


def check_format(spec: ModelSpec, table: SparkRelation) -> None:
    """Refuse a strategy or options that a table which is not Delta's can't have as it is."""
    if spec.strategy in (REPLACE_WHERE, DELETE_INSERT) and not spec.is_written_by_project:
        raise CompilationError(only_of_delta(spec.strategy, provider(table)))
    if table.is_iceberg:
        return
    if spec.checks_values:
        # They stay when the model has no such options any more.
        options = stored_options(table.information or "")
        if problems := list(unsafe_options(provider(table), options, _REBUILT)):
            raise invalid_configuration(spec.name, problems)
    if spec.is_written_by_project:
        return
    if spec.strategy == MERGE and provider(table) in NOT_MERGED:
        raise CompilationError(NO_MERGE)
    if spec.strategy == MICROBATCH:
        require_partitions(spec)


def refuse_for_files(backend: SqlBackend, table: SparkRelation) -> None:
    """Refuse settings with which files stay of a write that stops, if the table can have these."""
    if not (table.is_delta or table.is_iceberg or table.is_hudi):
        refuse_settings(backend.setting, REFUSED_FOR_FILES)


def copies_rows(spec: ModelSpec, table: StructType) -> bool:
    """Return whether a write may also write other rows of files again.

    A condition on partition columns alone removes whole files, and a MERGE that only inserts adds
    some.
    """
    if spec.is_written_by_project:
        return True
    partitioned_by = partition_columns(table)
    if spec.strategy == MERGE:
        updates = bool(spec.unique_key) and not spec.merge_clauses.skip_matched_step
        return updates or bool(spec.merge_clauses.not_matched_by_source_action)
    if spec.strategy in (MICROBATCH, REPLACE_WHERE):
        used = columns_of_condition(spec.predicates, table)
        if spec.strategy == MICROBATCH:
            used |= columns_named([spec.event_time])
        return not used <= partitioned_by
    return spec.strategy in _COPYING


def columns_of_rows(table: SparkRelation, schema: StructType) -> StructType:
    """Return the columns of a table that a row has values for. Hudi itself writes its others."""
    if not table.is_hudi:
        return schema
    names = SparkAdapter.HUDI_METADATA_COLUMNS
    return StructType([field for field in schema if field.name not in names])


def columns_of_condition(predicates: Iterable[str], table: StructType) -> frozenset[str]:
    """Return the columns whose names are in the condition for the rows to replace."""
    text = " ".join(predicates).lower().replace("``", "`")
    return frozenset(name.lower() for name in table.names if name.lower() in text)


def refused_condition(spec: ModelSpec, write: Write, snapshot: TableSnapshot) -> Iterator[Refusal]:
    """Refuse a condition for the rows to replace on columns that are computed after its check."""
    if spec.is_written_by_project or spec.strategy not in (REPLACE_WHERE, MICROBATCH):
        return
    for field in snapshot.schema:
        path = (field.name,)
        key = _key_that_uses(spec, path) if field.name in write.computed else ""
        if key:
            computed = snapshot.generation_expressions.get(field.name)
            selected = f"{computed} as {quote(field.name)}" if computed else quote(field.name)
            kind = field.dataType
            yield Refusal(Reason.COMPUTED_AND_IN_CONDITION, path, kind, None, selected, key)


def refused_new_keys(spec: ModelSpec, plan: Plan, backend: SqlBackend) -> Iterator[Refusal]:
    """Refuse to add a column by which the write finds rows: the rows that exist have null there."""
    if spec.is_written_by_project and spec.strategy != MERGE:
        return
    deletes_others = spec.strategy == MERGE and spec.merge_clauses.deletes_others
    if deletes_others and not spec.is_written_by_project:
        return
    filled = {
        name.lower()
        for step in plan.steps
        if isinstance(step, FillColumns)
        for name, _ in step.values
    }
    for new in plan.new:
        key = "" if new.path[0].lower() in filled else _key_that_uses(spec, new.path)
        if key and backend.fetch_rows(f"select 1 from {plan.table} limit 1"):
            kind = new.field.dataType
            yield Refusal(Reason.NEW_KEY, new.path, None, kind, type_sql(kind), key)


def _key_that_uses(spec: ModelSpec, path: Path) -> str:
    """Return the key of the configuration by which a write finds rows, if it uses a column."""
    texts: dict[str, Sequence[str]] = {}
    if spec.strategy in (MERGE, DELETE_INSERT, ""):
        # Only dbt's statement for a snapshot, and those of a project, can have expressions.
        is_name = spec.strategy and not spec.is_written_by_project
        keys = map(quote_once, spec.unique_key) if is_name else spec.unique_key
        texts["unique_key"] = tuple(keys)
    if spec.strategy == MICROBATCH:
        texts["event_time"] = [quote(read_name(spec.event_time)[-1])]
    if spec.strategy in (MICROBATCH, REPLACE_WHERE):
        texts["incremental_predicates"] = spec.predicates
    return next((key for key in texts if any(uses(text, path) for text in texts[key])), "")


def require_kept(backend: SqlBackend, table: SparkRelation, schema: StructType) -> None:
    """Refuse a write that would move rows to other partitions: ``require_moments_kept``."""
    try:
        require_moments_kept(backend, table, schema)
    except MomentsMoved as error:
        error.msg += " With on_lossy_write: ignore, this is not checked."
        raise


def require_table_partitions(backend: SqlBackend, spec: ModelSpec, table: SparkRelation) -> None:
    """Refuse to overwrite partitions of a table that has none: Iceberg would replace all rows.

    Other formats refuse the statement, but only after the steps before it.

    Raises:
        SchemaChangeRefused: the table is not partitioned.

    Source:
        https://iceberg.apache.org/javadoc/latest/org/apache/iceberg/ReplacePartitions.html
    """
    rows = backend.fetch_rows(f"describe table {relation_sql(table)}")
    if not has_partitions((str(row[0]), str(row[1] or "")) for row in rows):
        raise SchemaChangeRefused(
            f"{relation_sql(table)} is not partitioned, but the model {spec.name} has "
            f"partition_by: {', '.join(spec.partition_by)}. insert_overwrite can't replace single "
            "partitions of it. Nothing was changed or written. Rebuild the table with "
            f"{REBUILD}. It then has only the rows that the model's query returns. Or remove "
            "partition_by: each run then replaces all rows."
        )
