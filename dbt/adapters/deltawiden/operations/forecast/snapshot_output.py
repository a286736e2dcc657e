"""The rows that a snapshot writes, as dbt's macros make them from its query."""

from collections.abc import Callable, Mapping
from typing import Any

from dbt_common.exceptions import CompilationError, DbtRuntimeError
from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.operations.forecast.effects import first_line
from dbt.adapters.deltawiden.operations.selection import Node
from dbt.adapters.deltawiden.sql.identifiers import as_list
from dbt.adapters.deltawiden.sql.queries import select_from
from dbt.adapters.deltawiden.sql.types import type_sql
from dbt.adapters.deltawiden.writes.snapshots import TIMES

_OWN_COLUMNS = (*TIMES, "dbt_scd_id", "dbt_is_deleted")


def own_columns(node: Node) -> Mapping[str, str]:
    """Return the names of dbt's own columns in a snapshot.

    Source:
        https://docs.getdbt.com/reference/resource-configs/snapshot_meta_column_names
    """
    given: Mapping[str, Any] = node["config"].get("snapshot_meta_column_names") or {}
    return {name: str(given.get(name) or name) for name in _OWN_COLUMNS}


def require_named_columns(
    node: Node, query: str, query_schema: Callable[[str], StructType]
) -> None:
    """Refuse a snapshot whose query lacks a column of its configuration, as its run would.

    Raises:
        CompilationError: Spark can't select them, or the expressions with them, from the query.

    Source:
        dbt's macros ``snapshot_check_strategy``, ``snapshot_timestamp_strategy`` and
        ``snapshot_staging_table``
    """
    config = node["config"]
    checked = config.get("check_cols")
    names = [*as_list(config.get("unique_key")), *as_list(config.get("updated_at"))]
    names += checked if isinstance(checked, list) else []
    if not names or config.get("strategy") not in ("timestamp", "check"):
        return
    try:
        query_schema(select_from(", ".join(names), query))
    except DbtRuntimeError as error:
        raise CompilationError(
            f"unique_key, updated_at and check_cols can't be selected from the snapshot's query: "
            f"{first_line(error.msg)}"
        ) from error


def snapshot_output(
    node: Node,
    query: StructType,
    table: StructType,
    query_schema: Callable[[str], StructType],
) -> StructType:
    """Return the schema of the rows that a snapshot writes: the query's columns, and dbt's own.

    With a column ``updated_at``, the times have its type, and the last one also has that of
    ``dbt_valid_to_current``. Otherwise dbt's own columns have the types of the table.

    Source:
        dbt's macros ``snapshot_timestamp_strategy``, ``snapshot_check_strategy`` and
        ``get_dbt_valid_to_current``
    """
    config = node["config"]
    columns = own_columns(node)
    updated_at = str(config.get("updated_at")).lower()
    found = [field.dataType for field in query.fields if field.name.lower() == updated_at]
    times: dict[str, DataType] = {}
    if config.get("strategy") in ("timestamp", "check") and found:
        times = {columns[name].lower(): found[0] for name in TIMES}
        if current := config.get("dbt_valid_to_current"):
            end = f"coalesce(cast(null as {type_sql(found[0])}), {current})"
            times[columns["dbt_valid_to"].lower()] = query_schema(f"select {end}")[0].dataType
    names = {name.lower() for name in columns.values()}
    own = [
        StructField(field.name, times.get(field.name.lower(), field.dataType))
        for field in table.fields
        if field.name.lower() in names
    ]
    return StructType([*query.fields, *own])
