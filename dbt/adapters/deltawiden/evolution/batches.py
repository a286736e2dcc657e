"""The batch of a microbatch model, and the check of the rows that create its table."""

from collections.abc import Iterable, Mapping
from typing import Any

from dbt_common.exceptions import CompilationError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.strategies import MICROBATCH
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.writing.batch import Batch, NoBatch, read_batch
from dbt.adapters.deltawiden.writing.columns import WrittenColumn


def batch_of_model(
    columns: Iterable[WrittenColumn], config: Any, model: Mapping[str, Any]
) -> Batch:
    """Return the batch that a run of a microbatch model writes.

    Args:
        model: the model's node, with the limits of the batch.

    Raises:
        CompilationError: the rows of the batch can't be distinguished from those of other batches.
    """
    limits = model["batch"]
    start, end = limits["event_time_start"], limits["event_time_end"]
    try:
        return read_batch(columns, config.get("event_time"), start, end)
    except NoBatch as error:
        raise CompilationError(str(error)) from error


def creates_table_by_batch(config: Any, model: Mapping[str, Any]) -> bool:
    """Return whether a model's new table gets the rows of a batch."""
    is_incremental = config.get("materialized") == "incremental"
    is_microbatch = is_incremental and config.get("incremental_strategy") == MICROBATCH
    # With a microbatch macro of its own, a project can turn batches off.
    return is_microbatch and bool(model.get("batch"))


def batch_checked_sql(schema: StructType, config: Any, model: Mapping[str, Any]) -> str:
    """Render the columns of the query for a new table, failing if a row is outside of the batch.

    The table's next batches would delete such a row, or store it a second time.

    Args:
        schema: the schema of the query.

    Returns:
        The select list.

    Raises:
        CompilationError: as for ``batch_of_model``.
    """
    columns = [WrittenColumn(field.name, field.dataType, field) for field in schema.fields]
    batch = batch_of_model(columns, config, model)
    return ", ".join(
        batch.checked_sql(config.model.name) if name == batch.column else quote(name)
        for name in schema.names
    )
