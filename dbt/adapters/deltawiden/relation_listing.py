"""The tables and views of a schema, where the one statement that lists them all has failed."""

from collections.abc import Callable, Iterator
from typing import Any

import agate
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.impl import (
    LIST_RELATIONS_SHOW_TABLES_MACRO_NAME,
    SCHEMA_NOT_FOUND_MESSAGES,
    TABLE_OR_VIEW_NOT_FOUND_MESSAGES,
)
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.literals import literal

Description = tuple[str, str, str]
"""A schema, a name, and the information that SHOW TABLE EXTENDED has."""


def describe_one_by_one(
    backend: SqlBackend, execute_macro: Callable[..., Any], schema_relation: BaseRelation
) -> Iterator[Description]:
    """Describe each table and view of a schema by a statement of its own.

    Args:
        backend: runs queries.
        execute_macro: runs a macro by its name.
        schema_relation: the schema.

    Yields:
        The descriptions. A table that others have dropped by then is left out.
    """
    for name in _names(execute_macro, schema_relation):
        yield from _describe(backend, schema_relation, name)


def _names(execute_macro: Callable[..., Any], schema_relation: BaseRelation) -> list[str]:
    try:
        rows = execute_macro(
            LIST_RELATIONS_SHOW_TABLES_MACRO_NAME, kwargs={"schema_relation": schema_relation}
        )
    except DbtRuntimeError as error:
        if any(message in error.msg for message in SCHEMA_NOT_FOUND_MESSAGES):
            return []
        raise
    return [str(name) for _, name, _ in without_temporary(rows).rows]


def _describe(backend: SqlBackend, schema_relation: BaseRelation, name: str) -> list[Description]:
    try:
        rows = backend.fetch_rows(
            f"show table extended in {schema_relation.schema} like {literal(name)}"
        )
    except DbtRuntimeError as error:
        if any(message in error.msg for message in TABLE_OR_VIEW_NOT_FOUND_MESSAGES):
            return []
        raise
    # The name is a pattern, which others can match.
    described = [(str(row[0]), str(row[1]), str(row[3])) for row in rows if row[2] is False]
    return [row for row in described if row[1] == name]


def without_temporary(rows: agate.Table) -> agate.Table:
    """Leave out the temporary views of the session, which SHOW TABLES lists in every schema."""
    return rows.where(lambda row: str(row[2]).lower() != "true")
