"""Render statements that change a table."""

from collections.abc import Iterable, Mapping

from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.literals import literal, properties_sql


def set_properties(table_name: str, properties: Mapping[str, str]) -> str:
    """Return the statement that sets table properties."""
    return f"alter table {table_name} set tblproperties ({properties_sql(properties)})"


def unset_properties(table_name: str, keys: Iterable[str]) -> str:
    """Return the statement that removes table properties, if they are set."""
    listed = ", ".join(map(literal, keys))
    return f"alter table {table_name} unset tblproperties if exists ({listed})"


def drop_feature(table_name: str, feature: str, truncate_history: bool) -> str:
    """Return the statement that drops a table feature."""
    statement = f"alter table {table_name} drop feature {quote(feature)}"
    return f"{statement} truncate history" if truncate_history else statement


def rewrite_rows(table_name: str, column: str, generated: Iterable[str] = ()) -> str:
    """Return the statement that rewrites every row: it sets a column to itself."""
    columns = dict.fromkeys((column, *generated))  # The column can be one of them.
    return f"update {table_name} set {', '.join(set_to_themselves(columns))}"


def set_to_themselves(columns: Iterable[str], alias: str = "") -> list[str]:
    """Render the assignments of an UPDATE or a MERGE that keep columns as they are.

    Delta computes a generated column again if the statement does not set it. If it is set, Delta
    compares it with its expression, and stops the statement if they differ.

    Args:
        alias: the table's name in a MERGE whose source can have these columns, too.

    Source:
        Delta's ``UpdateExpressionsSupport`` and ``ColumnWithDefaultExprUtils``
    """
    table = f"{alias}." if alias else ""
    return [f"{quote(column)} = {table}{quote(column)}" for column in columns]


def optimize(table_name: str, zorder: str = "", where: str | None = None) -> str:
    """Return the statement that compacts a table's files, perhaps only of some partitions."""
    # The condition is on its own line, because it may end with a comment.
    condition = f" where (\n{where}\n)" if where else ""
    return f"optimize {table_name}{condition}{f' zorder by ({zorder})' if zorder else ''}"


def vacuum(table_name: str, hours: int | None, dry_run: bool) -> str:
    """Return the statement that deletes unneeded files that were removed some hours ago."""
    retain = f" retain {hours} hours" if hours is not None else ""
    return f"vacuum {table_name}{retain}{' dry run' if dry_run else ''}"
