"""The plan for the table of a dbt snapshot, in which dbt has to find the versions of rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from dbt.adapters.deltawiden.config.model_spec import ModelSpec, read_model_spec
from dbt.adapters.deltawiden.config.policy import OnSchemaChange
from dbt.adapters.deltawiden.config.project_macros import STAGING_MACROS, is_replaced
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.sql.identifiers import quote, read_name
from dbt.adapters.deltawiden.sql.queries import select_from
from dbt.adapters.deltawiden.sql.types import type_sql
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.renames import renamed_schema
from dbt.adapters.deltawiden.writes.model_write import source_sql
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused
from dbt.adapters.deltawiden.writes.table_checks import value_check
from dbt.adapters.deltawiden.writes.write_planner import Schemas, WritePlanner
from dbt.adapters.deltawiden.writing.columns import WrittenColumn, match_columns
from dbt.adapters.deltawiden.writing.replacement import has_no_offset_changes

_FORMATS_WITH_NTZ = ("delta", "iceberg")
TIMES = ("dbt_updated_at", "dbt_valid_from", "dbt_valid_to")

_FARTHEST = "interval 26 hours"
"""No two time zones are farther apart: https://www.iana.org/time-zones."""


class SnapshotPlanner:
    """Plans what a snapshot's table needs before new versions of rows are written to it."""

    def __init__(self, backend: SqlBackend, write_planner: WritePlanner) -> None:
        self._backend = backend
        self._write_planner = write_planner
        self._time_types: dict[str, str] = {}

    def plan(
        self,
        query: str,
        table: SparkRelation,
        spec: ModelSpec,
        config: Any,
        columns: Mapping[str, str],
        hard_deletes: str,
    ) -> Plan:
        """Decide what an existing snapshot needs before new versions of rows are written to it.

        A snapshot keeps what its source no longer has, and takes what is new, whatever the
        configuration: as ``on_schema_change: append_new_columns`` does.

        Args:
            query: the query for the snapshot's rows, dbt's own columns included.
            config: dbt's, in which ``check_cols`` gets the table's spelling.
            columns: the names of dbt's own columns.
            hard_deletes: what the snapshot does about rows that its source has deleted.

        Returns:
            A plan that is not refused. Its statements have not run.

        Raises:
            SchemaChangeRefused: the plan is refused, or the table has dates for the times at
                which rows are found deleted, or some times have a time zone and others none, or
                dbt would not find all current versions or deletions.

        Source:
            https://docs.getdbt.com/docs/build/snapshots, "What happens if I add new columns to my
            snapshot query?"
        """
        stored = self._backend.table_schema(table)
        output = _with_stored_deletions(self._backend.query_schema(query), stored, columns)
        plan = self.plan_schemas(Schemas(output, stored), table, spec, columns, hard_deletes)
        self._record_time_type(config.model.unique_id, _written_fields(plan), columns)
        _use_table_spelling(config, plan.write.columns)
        return plan

    def plan_schemas(
        self,
        schemas: Schemas,
        table: SparkRelation,
        spec: ModelSpec,
        columns: Mapping[str, str],
        hard_deletes: str,
    ) -> Plan:
        """Decide what an existing snapshot needs, as ``plan`` does, by the schemas alone."""
        # A snapshot compares each of its columns with the table's, as the table stores it.
        stored = renamed_schema(spec.renames, schemas.table)
        keys = frozenset(column.lower() for column in stored.names)
        policy = replace(spec.policy, on_schema_change=OnSchemaChange.APPEND_NEW_COLUMNS)
        for each in (schemas.output, schemas.table):
            self._refuse_texts(each.fields, columns, spec)
        self._refuse_shifted_times(schemas.output.fields, columns, spec)
        self._require_one_end(table, schemas.table, spec, columns)
        self._require_known_deletions(table, schemas.table, spec, columns, hard_deletes)
        plan = self._write_planner.plan(schemas, table, replace(spec, policy=policy), keys)
        dates = _times(_written_fields(plan), columns, DateType)
        if hard_deletes != "ignore" and dates and spec.checks_values:
            raise SchemaChangeRefused(report.dates_text(plan.table, hard_deletes, dates))
        return plan

    def _require_one_end(
        self, table: SparkRelation, schema: StructType, spec: ModelSpec, columns: Mapping[str, str]
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
        table_name, name = relation_sql(table), quote(column.name)
        stored, end = (f"try_cast({value} as timestamp_ltz)" for value in (name, current))
        rows = self._backend.fetch_rows(
            f"select {_in_utc(stored)}, {_in_utc(end)}, current_timezone() "
            f"from {table_name} where not {name} = {current} "
            f"and {stored} between {end} - {_FARTHEST} and {end} + {_FARTHEST} limit 1"
        )
        if rows:
            texts = map(str, rows[0])
            raise SchemaChangeRefused(report.other_end_text(table_name, name, current, *texts))

    def _require_known_deletions(
        self,
        table: SparkRelation,
        schema: StructType,
        spec: ModelSpec,
        columns: Mapping[str, str],
        hard_deletes: str,
    ) -> None:
        """Refuse current versions with which dbt does not see whether their row was deleted.

        With ``new_record``, dbt neither ends a version with a null there nor records that its row
        was deleted. With another value, it does not look at this column: a row that was deleted and
        comes back as it was stays deleted.

        Raises:
            SchemaChangeRefused: there are such versions.
        """
        column = _column(schema, columns["dbt_is_deleted"])
        if column is None:
            return
        table_name, name = relation_sql(table), quote(column.name)
        end = quote(columns["dbt_valid_to"])
        unknown = f"{name} is null" if hard_deletes == "new_record" else f"{name} = 'True'"
        is_current = f"{end} is null"
        if spec.valid_to_current:
            is_current = f"({is_current} or {end} = {spec.valid_to_current})"
        versions = f"{unknown} and {is_current}"
        if self._backend.fetch_rows(f"select 1 from {table_name} where {versions} limit 1"):
            raise SchemaChangeRefused(
                report.unknown_deletions_text(table_name, name, end, hard_deletes, versions)
            )

    def staged_rows_sql(
        self, context: Mapping[str, Any], staging: SparkRelation, table: SparkRelation, plan: Plan
    ) -> str:
        """Render the source of the MERGE of a snapshot: what it selects from its staging view.

        The view's query has the values of the snapshot's query, which are checked already. A
        macro of the project can change them or add others, so that they are checked again.
        """
        selected = self._staged_columns_sql(context, staging, table)
        return source_sql(plan, staging, selected, table)

    def _staged_columns_sql(
        self, context: Mapping[str, Any], staging: SparkRelation, table: SparkRelation
    ) -> str:
        config = context["config"]
        spec = read_model_spec(config, config.model.name)
        if not spec.checks_values or not any(is_replaced(context, name) for name in STAGING_MACROS):
            return "*"
        schema = self._backend.table_schema(table)
        check = value_check(self._backend, spec.name, table, schema)
        write = match_columns(self._backend.schema(staging), schema, check=check)
        return write.selected_sql

    def read_times(self, unique_id: str, table: SparkRelation, columns: Mapping[str, str]) -> None:
        """Read the types of the times in a snapshot's table, before its query is made."""
        self._record_time_type(unique_id, self._backend.table_schema(table).fields, columns)

    def _record_time_type(
        self, unique_id: str, fields: Iterable[StructField], columns: Mapping[str, str]
    ) -> None:
        fields = list(fields)
        # A text in `dbt_valid_to` alone comes from `dbt_valid_to_current`.
        start = {"dbt_valid_from": columns["dbt_valid_from"]}
        for data_type, times in ((StringType, start), (TimestampNTZType, columns)):
            if _times(fields, times, data_type):
                self._time_types[unique_id] = type_sql(data_type())
                return

    def time_type(self, unique_id: str) -> str:
        """Return the type of the times in a snapshot's table. Empty if it is that of ``now()``."""
        return self._time_types.get(unique_id, "")

    def with_timestamps(self, query: str, columns: Mapping[str, str], config: Any) -> str:
        """Let the times of a new snapshot's versions be timestamps, even if they come from dates.

        A date has no time zone. As a timestamp_ntz, it stays the same day in each session. As a
        timestamp, it would be earlier than the same date in a session whose time zone is further
        west, and dbt would take each row for a changed one.

        Returns:
            A query with the same columns; ``query`` itself if none of the times is a date.

        Raises:
            DbtDatabaseError: the query is not valid.
            SchemaChangeRefused: some of the times have a time zone, and others have none.
        """
        schema = self._backend.schema_to_check(query)
        spec = read_model_spec(config, config.model.name)
        self._refuse_texts(schema.fields, columns, spec)
        self._refuse_shifted_times(schema.fields, columns, spec)
        dates = _times(schema.fields, columns, DateType)
        if not dates:
            return query
        # All times are of one type. `dbt_valid_to_current` can be a timestamp.
        moments = _times(schema.fields, columns, TimestampType)
        if moments and self._can_shift(spec):
            raise SchemaChangeRefused(report.shifted_times_text(spec.name, dates, moments))
        has_ntz = spec.file_format in _FORMATS_WITH_NTZ and not moments
        timestamp = "timestamp_ntz" if has_ntz else "timestamp_ltz"
        names = ((field.name, quote(field.name)) for field in schema.fields)
        selected = (f"cast({q} as {timestamp}) as {q}" if name in dates else q for name, q in names)
        return select_from(", ".join(selected), query)

    def _refuse_shifted_times(
        self, fields: Sequence[StructField], columns: Mapping[str, str], spec: ModelSpec
    ) -> None:
        """Refuse to end versions at a time with a zone if their other times have none."""
        zoneless = _times(fields, columns, TimestampNTZType)
        with_zone = _times(fields, columns, TimestampType)
        if zoneless and with_zone and self._can_shift(spec):
            raise SchemaChangeRefused(report.shifted_times_text(spec.name, zoneless, with_zone))

    def _refuse_texts(
        self, fields: Sequence[StructField], columns: Mapping[str, str], spec: ModelSpec
    ) -> None:
        """Refuse an end that is a text beside a start that is none: times would become texts."""
        end, start = ({key: columns[key]} for key in ("dbt_valid_to", "dbt_valid_from"))
        texts = _times(fields, end, StringType)
        others = _times(fields, start, (TimestampType, TimestampNTZType, DateType))
        if texts and others and self._can_shift(spec):
            raise SchemaChangeRefused(report.text_times_text(spec.name, texts, others))

    def _can_shift(self, spec: ModelSpec) -> bool:
        return spec.checks_values and not has_no_offset_changes(self._backend.time_zone())


def _with_stored_deletions(
    output: StructType, table: StructType, columns: Mapping[str, str]
) -> StructType:
    """Let ``dbt_is_deleted`` be a boolean if the table's is: the MERGE casts dbt's text to it.

    Source:
        dbt-databricks' macro ``databricks__snapshot_staging_table``
    """
    name = columns["dbt_is_deleted"].lower()
    if name not in (field.name.lower() for field in table if field.dataType == BooleanType()):
        return output
    return StructType(
        [StructField(f.name, BooleanType()) if f.name.lower() == name else f for f in output]
    )


def _use_table_spelling(config: Any, columns: Iterable[WrittenColumn]) -> None:
    """Set the names of ``check_cols`` to the table's spelling: dbt does not ignore case."""
    configured = config.get("check_cols")
    if not configured or isinstance(configured, str):
        return  # It is "all".
    by_name = {column.name.lower(): column for column in columns}
    spelled = []
    for name in configured:
        path = read_name(name)
        column = by_name.get(path[0].lower()) if len(path) == 1 else None
        differs = column is not None and path[0] != column.name
        spelled.append(column.quoted if column is not None and differs else name)
    if spelled != configured:
        config.model.config["check_cols"] = spelled


def _written_fields(plan: Plan) -> list[StructField]:
    return [StructField(column.name, column.type) for column in plan.write.columns]


def _times(
    fields: Iterable[StructField],
    columns: Mapping[str, str],
    types: type[DataType] | tuple[type[DataType], ...],
) -> list[str]:
    """Name the times of a snapshot's versions that have one of these types."""
    times = {columns[key].lower() for key in TIMES if key in columns}
    found = (field for field in fields if isinstance(field.dataType, types))
    return [field.name for field in found if field.name.lower() in times]


def _column(schema: StructType, name: str) -> StructField | None:
    return next((field for field in schema if field.name.lower() == name.lower()), None)


def _in_utc(moment: str) -> str:
    local = f"cast({moment} as timestamp_ntz)"
    return f"string(convert_timezone(current_timezone(), 'UTC', {local}))"
