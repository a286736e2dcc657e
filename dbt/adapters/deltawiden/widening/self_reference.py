"""Detect a model that reads its own table, so that each widening makes its output wider."""

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text, quote
from dbt.adapters.deltawiden.sql.queries import mentions, replace_name
from dbt.adapters.deltawiden.sql.types import type_sql, type_text
from dbt.adapters.deltawiden.widening.schema_diff import compare


def widened_queries(query: str, table: Path, types: Mapping[str, DataType]) -> list[str]:
    """Rewrite a model's query as if the model's own table had other types.

    Both queries have a subquery in place of the table's name: one without an alias for the
    subquery, one with it. Which of the two is valid depends on whether the query already has an
    alias for the table. There are none if the query does not contain the table's name.
    """
    if not mentions(query, table):
        return []
    # Not from the table: before a rename, it does not have all of the columns.
    columns = ", ".join(
        f"cast(null as {type_sql(data_type)}) as {quote(column)}"
        for column, data_type in types.items()
    )
    subquery = f"(select {columns} where false)"
    aliased = f"{subquery} as {quote(table[-1])}"
    return [replace_name(query, table, subquery), replace_name(query, table, aliased)]


def grows_again(
    changes: Sequence[TypeChange], output: StructType, table: StructType
) -> list[tuple[TypeChange, DataType]]:
    """Find the type changes after which the model's output would be wider than its table again.

    Each has the new type of the output.
    """
    wider = {leaf.path: leaf.source for leaf in compare(output, table).types}
    return [(change, wider[change.path]) for change in changes if change.path in wider]


def self_reference_text(table: str, growing: Sequence[tuple[TypeChange, DataType]]) -> str:
    """Render the error for a model that widens its own input, with the casts that prevent it."""
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
    """Render the casts of columns to types."""
    return ", ".join(
        f"cast(... as {type_text(data_type)}) as {path_text(path)}" for path, data_type in columns
    )
