"""Render the statements that change a table. Other modules only use their text."""

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.identifiers import Path, path_sql, quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.properties import properties_sql
from dbt.adapters.deltawiden.sql.types import type_sql

WITH_STATISTICS = "/* with the statistics of its files */"
"""Ends a statement that must not run alone: data files' statistics are corrected before it."""


def set_properties(table_name: str, properties: Mapping[str, str]) -> str:
    """Return the statement that sets table properties."""
    return f"alter table {table_name} set tblproperties ({properties_sql(properties)})"


def unset_properties(table_name: str, keys: Iterable[str]) -> str:
    """Return the statement that removes table properties, if they are set."""
    listed = ", ".join(map(literal, keys))
    return f"alter table {table_name} unset tblproperties if exists ({listed})"


def alter_types(table_name: str, types: Iterable[tuple[Path, DataType]]) -> str:
    """Return the statement that changes the types of columns or nested fields."""
    columns = (f"{path_sql(path)} type {type_sql(data_type)}" for path, data_type in types)
    return f"alter table {table_name} alter column {', '.join(columns)}"


def add_columns(table_name: str, types: Iterable[tuple[Path, DataType]]) -> str:
    """Return the statement that adds columns or nested fields."""
    added = (f"{path_sql(path)} {type_sql(data_type)}" for path, data_type in types)
    return f"alter table {table_name} add columns ({', '.join(added)})"


def drop_columns(table_name: str, paths: Iterable[Path]) -> str:
    """Return the statement that drops columns or nested fields."""
    return f"alter table {table_name} drop columns ({', '.join(map(path_sql, paths))})"


def cluster_by(table_name: str, paths: Sequence[Path]) -> str:
    """Return the statement that changes the clustering columns. Without any, it removes them."""
    columns = f"({', '.join(map(path_sql, paths))})" if paths else "none"
    return f"alter table {table_name} cluster by {columns}"


def drop_feature(table_name: str, feature: str, truncate_history: bool) -> str:
    """Return the statement that drops a table feature."""
    statement = f"alter table {table_name} drop feature {quote(feature)}"
    return f"{statement} truncate history" if truncate_history else statement


def rewrite_rows(table_name: str, column: str) -> str:
    """Return the statement that rewrites every row: it sets a column to itself."""
    return f"update {table_name} set {quote(column)} = {quote(column)}"


def optimize(table_name: str, zorder: str = "", where: str | None = None) -> str:
    """Return the statement that compacts a table's files.

    Args:
        where: a condition on partition columns, to compact only some partitions.
    """
    # The condition is on its own line, because it may end with a comment.
    condition = f" where (\n{where}\n)" if where else ""
    return f"optimize {table_name}{condition}{f' zorder by ({zorder})' if zorder else ''}"


def vacuum(table_name: str, hours: int | None, dry_run: bool) -> str:
    """Return the statement that deletes the files that a table no longer needs.

    Args:
        hours: how long files are kept after they were removed from the table. None
            for the table's own retention.
    """
    retain = f" retain {hours} hours" if hours is not None else ""
    return f"vacuum {table_name}{retain}{' dry run' if dry_run else ''}"
