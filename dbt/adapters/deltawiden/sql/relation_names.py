"""Find the names of relations in the text of a query, and read other rows or types there."""

import re
from collections.abc import Mapping

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.sql.identifiers import Path, quote
from dbt.adapters.deltawiden.sql.queries import select_from
from dbt.adapters.deltawiden.sql.types import type_sql


def name_pattern(relation: Path) -> re.Pattern[str]:
    """Return the pattern of a relation's name in a query, quoted or not, in any case."""
    dotted = r"\s*\.\s*".join(_part(part) for part in relation)
    return re.compile(rf"(?<![\w`.]){dotted}(?![\w`])", re.IGNORECASE)


def replace_name(query: str, relation: Path, by: str) -> str:
    """Replace a relation's name in a query by a text."""
    return name_pattern(relation).sub(lambda _: by, query)


def with_types(query: str, types: Mapping[Path, tuple[str, StructType]]) -> str:
    """Rewrite a query as if the relations that it reads had other types. It then reads no rows.

    Args:
        types: by the name of each relation, the name of the common table expression that takes its
            place, and the schema. Without any, the query stays as it is.
    """
    if not types:
        return query
    for relation, (name, _) in types.items():
        query = replace_name(query, relation, quote(name))
    tables = ", ".join(f"{quote(name)} as ({_empty(schema)})" for name, schema in types.values())
    return f"with {tables} {select_from('*', query)}"


def _empty(schema: StructType) -> str:
    columns = ", ".join(
        f"cast(null as {type_sql(field.dataType)}) as {quote(field.name)}" for field in schema
    )
    return f"select {columns} where false"


def _part(name: str) -> str:
    return rf"(?:{re.escape(quote(name))}|{re.escape(name)})"
