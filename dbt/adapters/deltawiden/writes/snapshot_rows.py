"""What the rows of a snapshot's table must be, so that dbt's comparison finds their versions."""

from collections.abc import Mapping

from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql.types import StringType, StructField, StructType, TimestampType

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused

_FARTHEST = "interval 26 hours"
"""No two time zones are farther apart: https://www.iana.org/time-zones."""


def require_one_end(
    backend: SqlBackend,
    table: SparkRelation,
    schema: StructType,
    spec: ModelSpec,
    columns: Mapping[str, str],
) -> None:
    """Refuse a ``dbt_valid_to_current`` that is not the end which current versions have.

    A date, or a time without an offset, is another moment in each time zone. In another session
    than the one before, dbt would find no current version, and store every row again.

    Raises:
        SchemaChangeRefused: versions have an end that is the same time in another time zone.

    Source:
        dbt's macro ``snapshot_staging_table``, ``snapshotted_data``
    """
    column = _column(schema, columns["dbt_valid_to"])
    current = spec.valid_to_current
    if not (current and column and isinstance(column.dataType, (TimestampType, StringType))):
        return
    name, end = quote(column.name), f"try_cast({current} as timestamp_ltz)"
    stored = f"try_cast({name} as timestamp_ltz)"
    rows = backend.fetch_rows(
        f"select {_in_utc(stored)}, {_in_utc(end)}, current_timezone() "
        f"from {relation_sql(table)} where not {name} = {current} "
        f"and {stored} between {end} - {_FARTHEST} and {end} + {_FARTHEST} limit 1"
    )
    if rows:
        texts = map(str, rows[0])
        raise SchemaChangeRefused(report.other_end_text(relation_sql(table), name, current, *texts))


def require_known_deletions(
    backend: SqlBackend,
    table: SparkRelation,
    schema: StructType,
    spec: ModelSpec,
    columns: Mapping[str, str],
    hard_deletes: str,
) -> None:
    """Refuse current versions with which dbt does not see whether their row was deleted.

    With ``new_record``, dbt neither ends a version with a null there nor records that its row was
    deleted. With another value, it does not look at this column: a row that was deleted and comes
    back as it was stays deleted.

    Raises:
        SchemaChangeRefused: there are such versions.
    """
    column = _column(schema, columns["dbt_is_deleted"])
    if column is None:
        return
    name, end = quote(column.name), quote(columns["dbt_valid_to"])
    unknown = f"{name} is null" if hard_deletes == "new_record" else f"{name} = 'True'"
    is_current = f"{end} is null"
    if spec.valid_to_current:
        is_current = f"({is_current} or {end} = {spec.valid_to_current})"
    versions = f"{unknown} and {is_current}"
    if backend.fetch_rows(f"select 1 from {relation_sql(table)} where {versions} limit 1"):
        raise SchemaChangeRefused(
            report.unknown_deletions_text(relation_sql(table), name, end, hard_deletes, versions)
        )


def _column(schema: StructType, name: str) -> StructField | None:
    return next((field for field in schema if field.name.lower() == name.lower()), None)


def _in_utc(moment: str) -> str:
    local = f"cast({moment} as timestamp_ntz)"
    return f"string(convert_timezone(current_timezone(), 'UTC', {local}))"
