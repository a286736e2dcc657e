"""Choose the columns that a MERGE updates in an existing row."""

from collections.abc import Iterable, Sequence
from typing import Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.sql.identifiers import quote_once, read_name

Names = str | Sequence[str] | None


def merge_update_columns(
    included: Names, excluded: Names, columns: Sequence[Any], others: Iterable[str] = ()
) -> list[str] | None:
    """Return the quoted names of the columns that a MERGE updates, or None for all.

    dbt-spark's macro does not recognize a column whose name is in backticks, and ignores a
    misspelt name.

    Args:
        columns: the table's columns, each with ``column`` and ``quoted``. If ``in_source`` is
            false, the column is not in the model's output and can't be updated.
        others: the names of columns that are not written, which may be excluded all the same.

    Raises:
        CompilationError: both are configured, or a column does not exist.
    """
    if included and excluded:
        raise CompilationError(
            "Model cannot specify merge_update_columns and merge_exclude_columns. Please update "
            "model to use only one config"
        )
    # dbt's own columns do not have this attribute.
    in_source = [column for column in columns if getattr(column, "in_source", True)]
    if included:
        return _named("merge_update_columns", included, in_source)
    if excluded:
        not_written = {name.lower() for name in others}
        names = [excluded] if isinstance(excluded, str) else excluded
        written = [name for name in names if read_name(name)[0].lower() not in not_written]
        found = _named("merge_exclude_columns", written, columns)
        return [column.quoted for column in in_source if column.quoted not in found]
    return None


def _named(key: str, names: Names, columns: Iterable[Any]) -> list[str]:
    quoted = {column.column.lower(): column.quoted for column in columns}
    found = []
    for name in [names] if isinstance(names, str) else names or ():
        path = read_name(name)
        if path[0].lower() not in quoted:
            existing = ", ".join(column.column for column in columns)
            raise CompilationError(f"{key}: there is no column {name}; there are {existing}")
        # A path names a field, which a MERGE can set by itself.
        found.append(quoted[path[0].lower()] if len(path) == 1 else quote_once(name))
    return found
