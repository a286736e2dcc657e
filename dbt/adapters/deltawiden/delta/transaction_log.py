"""Read the transaction log of a Delta table with SQL alone.

Delta keeps type changes, generated columns and identity columns in the metadata of columns. Spark
does not show this metadata in schemas, DESCRIBE or SHOW TBLPROPERTIES. The log contains it.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.spark.errors import condition_of
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.literals import literal

FetchRows = Callable[[str], Sequence[Any]]
"""Runs a query and returns its rows. A value in a row can be read by position and by name."""


def parsed(value: Any) -> Any:
    """Return a list or a map in a result, which dbt shows as JSON text."""
    return json.loads(value) if isinstance(value, str) and value else value


def newest_schema(location: str, fetch_rows: FetchRows) -> str:
    """Read the ``schemaString``, with all metadata of the columns, of a table's newest version.

    Raises:
        DbtRuntimeError: the log contains no schema.

    Source:
        Delta's protocol, "Delta Log Entries", "Checkpoints" and "Change Metadata"
    """
    # The oldest commits are deleted first, so a commit that is left is newer than a deleted one.
    # A checkpoint contains the metadata of the commits before it, in Parquet or in JSON.
    commits = fetch_rows(
        f"select value from {log_files(location)} "
        "where ltrim(value) like '{\"metaData\"%' order by _metadata.file_name desc limit 1"
    )
    if commits:
        return str(json.loads(commits[0][0])["metaData"]["schemaString"])
    checkpoints = _in_checkpoints(location, "order by _metadata.file_name desc limit 1", fetch_rows)
    if not checkpoints:
        raise DbtRuntimeError(f"There is no schema in the Delta log of {location}")
    return str(checkpoints[0][0])


def history_has_type_changes(location: str, fetch_rows: FetchRows) -> bool:
    """Return whether any version that is left in a table's log has a recorded type change.

    It can also be true because of a text in the metadata of a column that has the name of the key.

    Source:
        Delta's ``RemovableFeature.historyContainsFeature``, which decides in the same way whether
        a feature can be dropped without truncated or protected history
    """
    return bool(changed_schemas(location, fetch_rows))


_ID = "get_json_object(value, '$.metaData.id')"


def changed_schemas(location: str, fetch_rows: FetchRows, table_id: str = "%") -> list[str]:
    """Read each ``schemaString`` with recorded type changes in the versions left in a table's log.

    Args:
        table_id: the id in its metadata, without which versions from before a replacement count.
    """
    changed = f"like '%delta.typeChanges%' and {{}} like {literal(table_id)}"
    # Each write of rows changes the high water mark of an identity column.
    schema = (
        "regexp_replace(get_json_object(value, '$.metaData.schemaString'), "
        "'highWaterMark\":-?[0-9]+', 'highWaterMark\":0')"
    )
    ((first, found),) = fetch_rows(
        "select min(case when _metadata.file_name rlike '^[0-9]{20}[.]json$' "
        "then cast(substring(_metadata.file_name, 1, 20) as bigint) end), "
        "to_json(collect_set(case when ltrim(value) like '{\"metaData\"%' and value "
        f"{changed.format(_ID)} then {schema} end)) from {log_files(location)}"
    )
    schemas: list[str] = json.loads(found)
    if int(first or 0):
        # The metadata of the commits that are gone is in a checkpoint.
        clause = f"and metaData.schemaString {changed.format('metaData.id')}"
        schemas += (str(row[0]) for row in _in_checkpoints(location, clause, fetch_rows))
    return schemas


def _in_checkpoints(location: str, clause: str, fetch_rows: FetchRows) -> Sequence[Any]:
    """Read schemas from the checkpoints in Parquet. Without any, all checkpoints are in JSON."""
    source = _files("parquet", location, "*.checkpoint*.parquet")
    try:
        return fetch_rows(
            f"select metaData.schemaString from {source} where metaData is not null {clause}"
        )
    except DbtRuntimeError as error:
        if condition_of(error) != "PATH_NOT_FOUND":
            raise
        return ()


def history_expiry(location: str, plus: str, fetch_rows: FetchRows) -> str:
    """Return the time at which type changes were removed from a schema, plus an SQL interval.

    It is the modification time of that commit's file, by which the commit expires, or the current
    time if no commit removed any: in ISO 8601, in the connection's time zone.

    Source:
        Delta's operation ``DROP FEATURE``, which lists the columns when it removes their metadata
    """
    interval = plus.lower().replace("'", "").removeprefix("interval").strip()
    rows = fetch_rows(
        "select date_format(coalesce(max(_metadata.file_modification_time), current_timestamp()) "
        f"+ cast('{interval}' as interval), \"yyyy-MM-dd'T'HH:mm:ssXXX\") "
        f"from {log_files(location)} "
        """where value like '{"commitInfo"%"operation":"DROP FEATURE"%"columns"%'"""
    )
    return str(rows[0][0])


def log_files(location: str) -> str:
    """Render the JSON files of a table's log as a table of lines with the column ``value``.

    They are the commits, and checkpoints of the second version. A log compaction repeats commits,
    and Delta leaves it in the log when it deletes them: ``<from>.<to>.compacted.json``.

    Source:
        Delta's protocol, "File Types"; Delta's ``MetadataCleanup``
    """
    return _files("text", location, "{????????????????????,*.checkpoint.*}.json")


def file_sql(source: str, path: str) -> str:
    """Render a file as a table of a data source, such as ``parquet``. Its path is literal.

    Source:
        https://spark.apache.org/docs/latest/sql-data-sources-load-save-functions.html#run-sql-on-files-directly
    """
    return f"{source}.{quote(_no_pattern(path))}"


def _files(source: str, location: str, names: str) -> str:
    folder = _no_pattern(location.rstrip("/"))
    return f"{source}.{quote(f'{folder}/_delta_log/{names}')}"


def _no_pattern(path: str) -> str:
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)
