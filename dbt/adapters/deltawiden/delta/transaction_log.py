"""The transaction log of a Delta table, read with SQL alone.

Spark hides what Delta keeps in a column's metadata (type changes, generated and identity columns)
from schemas, DESCRIBE and SHOW TBLPROPERTIES. The log has it.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.sql.identifiers import quote

FetchRows = Callable[[str], Sequence[Any]]
"""Runs a query; gives its rows, whose values can be had by position and by name."""


def newest_schema(location: str, fetch_rows: FetchRows) -> str:
    """Read the schema of a table's newest version, as the log has it.

    Args:
        location: where the table is, as DESCRIBE DETAIL says.
        fetch_rows: runs a query.

    Returns:
        The ``schemaString``: JSON, with all metadata of the columns.

    Raises:
        DbtRuntimeError: the log has no schema.

    Source:
        Delta's protocol, "Delta Log Entries", "Checkpoints" and "Change Metadata"
    """
    # Commits are deleted from the oldest on, so one that is left is newer than all that are not.
    # A checkpoint has the metadata of the commits before it, in Parquet or in JSON.
    commits = fetch_rows(
        f"select value from {_files('text', location, '*.json')} "
        "where ltrim(value) like '{\"metaData\"%' order by _metadata.file_name desc limit 1"
    )
    if commits:
        return str(json.loads(commits[0][0])["metaData"]["schemaString"])
    checkpoints = fetch_rows(
        f"select metaData.schemaString from {_files('parquet', location, '*.checkpoint*.parquet')} "
        "where metaData is not null order by _metadata.file_name desc limit 1"
    )
    if not checkpoints:
        raise DbtRuntimeError(f"There is no schema in the Delta log of {location}")
    return str(checkpoints[0][0])


def metadata_removed_at(location: str, plus: str, fetch_rows: FetchRows) -> str:
    """Say when the type changes were removed from a table's schema.

    Args:
        location: where the table is, as DESCRIBE DETAIL says.
        plus: an SQL interval that is added to the time.
        fetch_rows: runs a query.

    Returns:
        The time of that commit's file, which decides when it expires, or of now where no commit
        has removed them; as in ISO 8601, in the connection's time zone.

    Source:
        Delta's operation ``DROP FEATURE``, which names the columns when it removes their metadata
    """
    interval = plus.lower().replace("'", "").removeprefix("interval").strip()
    rows = fetch_rows(
        "select date_format(coalesce(max(_metadata.file_modification_time), current_timestamp()) "
        f"+ cast('{interval}' as interval), \"yyyy-MM-dd'T'HH:mm:ssXXX\") "
        f"from {_files('text', location, '*.json')} "
        """where value like '{"commitInfo"%"operation":"DROP FEATURE"%"columns"%'"""
    )
    return str(rows[0][0])


def file_sql(source: str, path: str) -> str:
    """Name a file for a query, as the table that a data source makes of it.

    Args:
        source: the data source, such as ``parquet``.
        path: the file's path, no pattern: whatever characters are in it, it is a name.

    Returns:
        The name, for a statement.

    Source:
        https://spark.apache.org/docs/latest/sql-data-sources-load-save-functions.html#run-sql-on-files-directly
    """
    return f"{source}.{quote(_no_pattern(path))}"


def _files(source: str, location: str, names: str) -> str:
    folder = _no_pattern(location.rstrip("/"))
    return f"{source}.{quote(f'{folder}/_delta_log/{names}')}"


def _no_pattern(path: str) -> str:
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)
