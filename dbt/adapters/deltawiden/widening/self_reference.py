"""A model that reads its own table, and whose output becomes wider with it."""

import re
from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path, path_sql, path_text, quote
from dbt.adapters.deltawiden.sql.types import type_sql, type_text
from dbt.adapters.deltawiden.widening.schema_diff import compare


def widened_queries(query: str, table: Path, types: Mapping[str, DataType]) -> list[str]:
    """Rewrite a query as if its model's own table had other types.

    Args:
        query: the model's query.
        table: the parts of the table's name.
        types: the type of each of the table's columns after the plan.

    Returns:
        The query with the table's name replaced by a subquery, without and with an alias: which of
        the two is valid depends on whether the query gives the table one. None where the query does
        not name the table.
    """
    dotted = r"\s*\.\s*".join(_part(part) for part in table)
    named = re.compile(rf"(?<![\w`.]){dotted}(?![\w`])", re.IGNORECASE)
    if not named.search(query):
        return []
    columns = ", ".join(
        f"cast({quote(column)} as {type_sql(data_type)}) as {quote(column)}"
        for column, data_type in types.items()
    )
    subquery = f"(select {columns} from {path_sql(table)})"
    aliased = f"{subquery} as {quote(table[-1])}"
    return [_replaced(named, subquery, query), _replaced(named, aliased, query)]


def _replaced(named: re.Pattern[str], by: str, query: str) -> str:
    return named.sub(lambda _: by, query)


def _part(name: str) -> str:
    return rf"(?:{re.escape(quote(name))}|{re.escape(name)})"


def grows_again(
    changes: Sequence[TypeChange], output: StructType, table: StructType
) -> list[tuple[TypeChange, DataType]]:
    """Find the type changes after which the model's output would again be wider than its table.

    Args:
        changes: the type changes of a plan.
        output: the schema of the model's output if the changes were made.
        table: the table's schema if the changes were made.

    Returns:
        Each such change, with the type that the output would then have.
    """
    wider = {leaf.path: leaf.source for leaf in compare(output, table).types}
    return [(change, wider[change.path]) for change in changes if change.path in wider]


def self_reference_text(table: str, growing: Sequence[tuple[TypeChange, DataType]]) -> str:
    """Say why a model that widens its own input is refused, and which casts mend it.

    Args:
        table: the table's name, quoted for a statement.
        growing: what ``grows_again`` has found.
    """
    lines = [f"{table} can't take the model's output; nothing was changed or written.", ""]
    for change, output in growing:
        lines.append(f"  {change.text}, then {type_text(output)}, and so on with each run")
    casts = casts_text((change.path, change.from_type) for change, _ in growing)
    lines += [
        "    Why: the model reads its own table, and computes a wider type from the table's type.",
        f"    Do:  cast the column in the model, for example: {casts}",
    ]
    return "\n".join(lines)


def casts_text(columns: Iterable[tuple[Path, DataType]]) -> str:
    """Write the casts by which a model's columns get types."""
    return ", ".join(
        f"cast(... as {type_text(data_type)}) as {path_text(path)}" for path, data_type in columns
    )
