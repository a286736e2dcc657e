"""Render a MERGE of rows into a table, with the clauses and the columns that a model configures."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.config.merge_clauses import MergeClauses
from dbt.adapters.deltawiden.config.strategies import BOTH_COLUMNS
from dbt.adapters.deltawiden.sql.identifiers import quote_once, read_name
from dbt.adapters.deltawiden.sql.statements import set_to_themselves


def equal_keys(in_source: str, in_target: str) -> str:
    """Compare a key as dbt-spark does: rows without a key do not match."""
    return f"{in_source} = {in_target}"


def merge_conditions(
    keys: Iterable[str],
    predicates: Iterable[str],
    clauses: MergeClauses,
    match: Callable[[str, str], str] = equal_keys,
) -> list[str]:
    """Render the conditions under which a row of the source matches a row of the table.

    Args:
        keys: the names of ``unique_key``. Without any, no row matches.
        predicates: the conditions of ``incremental_predicates``.
        match: renders the comparison of a key, from the source's column and the table's.
    """
    names = [quote_once(key) for key in keys]
    target, source = clauses.target_alias, clauses.source_alias
    matches = [match(f"{source}.{name}", f"{target}.{name}") for name in names]
    return [*in_brackets(predicates), *(matches or ["FALSE"])]


def in_brackets(predicates: Iterable[str]) -> list[str]:
    """Render conditions of users, so that they can be combined."""
    # The closing bracket is on the next line, because a condition may end with a comment.
    return [f"({predicate}\n)" for predicate in predicates]


def merge_sql(
    target: str,
    source: str,
    conditions: Iterable[str],
    clauses: MergeClauses,
    columns: Sequence[Any] | None,
    updated: Sequence[str] | None,
    kept: Iterable[str] = (),
) -> str:
    """Render dbt-spark's MERGE with quoted names, and with the clauses of dbt-databricks.

    Args:
        source: a view, or a query in brackets.
        columns: the table's columns, each with ``quoted``, ``in_source`` and ``merged_sql``. None
            to write ``*`` (``Write.can_merge_all``). A column that the source lacks keeps its value
            in an updated row, and is null in an inserted row.
        updated: the quoted columns to update, or None for all that the source has. Without any,
            a row that matches is left as it is.
        kept: the columns that an update sets to themselves.

    Source:
        https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge
    """
    return "\n".join(
        [
            f"merge into {target} as {clauses.target_alias}",
            f"using {source} as {clauses.source_alias}",
            f"on {' and '.join(conditions)}",
            *_when(clauses, columns, updated, kept),
        ]
    )


def _when(
    clauses: MergeClauses,
    columns: Sequence[Any] | None,
    updated: Sequence[str] | None,
    kept: Iterable[str],
) -> Iterator[str]:
    if not clauses.skip_matched_step and updated != []:
        values = _updated_sql(columns, updated, clauses.source_alias)
        assigned = ", ".join([values, *set_to_themselves(kept, clauses.target_alias)])
        yield f"when matched{_and(clauses.matched_condition)} then update set {assigned}"
    if not clauses.skip_not_matched_step:
        values = "*" if columns is None else inserted_sql(columns, clauses.source_alias)
        yield f"when not matched{_and(clauses.not_matched_condition)} then insert {values}"
    if action := clauses.not_matched_by_source_action:
        condition = _and(clauses.not_matched_by_source_condition)
        yield f"when not matched by source{condition} then {action}"


def _and(condition: str) -> str:
    return "".join(f" and {each}" for each in in_brackets([condition] if condition else []))


def _updated_sql(columns: Sequence[Any] | None, updated: Sequence[str] | None, source: str) -> str:
    if columns is None and updated is None:
        return "*"
    in_source = [column for column in columns or () if column.in_source]
    values = {column.quoted: column.merged_sql(source) for column in in_source}
    names = values if updated is None else updated
    # A name that is not a column's is the path of a field in a struct.
    return ", ".join(f"{name} = {values.get(name, f'{source}.{name}')}" for name in names)


def inserted_sql(columns: Sequence[Any], source: str) -> str:
    """Render the columns of ``merge_sql``, and their values, for a clause that inserts."""
    names = ", ".join(column.quoted for column in columns)
    values = ", ".join(column.merged_sql(source) for column in columns)
    return f"({names}) values ({values})"


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
        CompilationError: both are configured, a column does not exist, or a field is excluded.
    """
    if included and excluded:
        raise CompilationError(BOTH_COLUMNS)
    # dbt's own columns do not have this attribute.
    in_source = [column for column in columns if getattr(column, "in_source", True)]
    if included:
        return _named("merge_update_columns", included, in_source)
    if excluded:
        not_written = {name.lower() for name in others}
        names = [excluded] if isinstance(excluded, str) else excluded
        written = [name for name in names if read_name(name)[0].lower() not in not_written]
        for name in written:
            if len(read_name(name)) > 1:
                raise CompilationError(
                    f"merge_exclude_columns: {name} is a field, which a MERGE can't leave out of "
                    "its column. List the other fields and columns in merge_update_columns"
                )
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
