"""The batch of a microbatch model, and the checks of its rows and partitions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.identifiers import quote, quote_once
from dbt.adapters.deltawiden.writing.columns import WrittenColumn
from dbt.adapters.deltawiden.writing.replacement import Batch, ReplaceWhere, read_batch


def batch_of_model(
    columns: Sequence[WrittenColumn],
    config: Any,
    model: Mapping[str, Any],
    predicates: Sequence[str],
) -> Batch:
    """Return the batch that a run of a microbatch model writes: ``read_batch``."""
    limits = model["batch"]
    start, end = limits["event_time_start"], limits["event_time_end"]
    batch = read_batch(columns, config.get("event_time"), start, end)
    return replace(batch, also=ReplaceWhere(predicates, columns)) if predicates else batch


def require_partitions(spec: ModelSpec) -> None:
    """Refuse a microbatch model whose batches would replace all rows of a table."""
    if not spec.partition_by:
        raise CompilationError(
            "partition_by: The 'microbatch' incremental strategy requires a `partition_by` config "
            f"for a table that is not Delta's: a column that is of grain {spec.batch_size}. With "
            "`file_format: delta` it needs none."
        )


def batch_checked_sql(
    schema: StructType, config: Any, model: Mapping[str, Any], predicates: Sequence[str]
) -> str:
    """Render the columns of the query for a new table, failing if a row is outside of the batch.

    The table's next batches would delete such a row, or store it a second time.
    """
    columns = [WrittenColumn(field.name, field.dataType, field) for field in schema.fields]
    batch = batch_of_model(columns, config, model, predicates)
    return ", ".join(
        batch.checked_sql(config.model.name) if name == batch.column else quote(name)
        for name in schema.names
    )


def refuse_shared_partitions(
    backend: SqlBackend,
    batch: Batch,
    partition_columns: Sequence[str],
    source: SparkRelation,
    target: SparkRelation,
) -> None:
    """Refuse a batch that would replace partitions with rows of other batches."""
    quoted = map(quote_once, partition_columns)
    same = " and ".join(f"s.{name} <=> t.{name}" for name in quoted)
    found = backend.fetch_rows(
        f"select 1 from {target} as t where not coalesce({batch.condition}, false) "
        f"and exists (select 1 from {source} as s where {same}) limit 1"
    )
    if found:
        or_not = ", or they do not meet incremental_predicates" if batch.also else ""
        raise CompilationError(
            f"The batch would replace partitions of {target} that have rows of other batches "
            f"too: their {batch.column} is not in {batch.start} to {batch.end}{or_not}. The table "
            f"is partitioned by {', '.join(partition_columns)}. Partition it by a column that is "
            "no coarser than batch_size and in UTC, or use file_format: delta, which replaces just "
            "the rows of a batch."
        )
