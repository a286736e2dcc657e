"""Find the columns that an SQL expression in a table's definition uses."""

import logging
import re
from collections.abc import Iterable, Iterator

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path, folded
from dbt.adapters.deltawiden.sql.types import type_in

# sqlglot warns if it parses an expression as an opaque command. `_words` reads such expressions.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_WORD = re.compile(r"`((?:[^`]|``)+)`|(\w+)")


def referenced_paths(expression: str) -> frozenset[Path]:
    """Find the columns and fields, in lower case, of a CHECK constraint or a generated column.

    A path ends where the expression does more than name a field: for ``arr[0].x`` it is ``arr``. If
    the expression can't be parsed, every word in it is a path: they can be too many, never too few.

    Source:
        Delta's protocol, "CHECK Constraints" and "Generated Columns"
    """
    paths = parsed_paths(expression)
    return frozenset(_words(expression) if paths is None else paths)


def parsed_paths(expression: str) -> Iterable[Path] | None:
    """Find the columns and fields, in lower case, of an expression. None if it can't be parsed."""
    # This import takes half a second. Few tables have such expressions, so it is not at the top,
    # where it would slow down every dbt command.
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        # In a SELECT: alone, an expression that begins with a column named `vacuum` is a statement.
        parsed = sqlglot.parse_one(f"select ({expression}\n)", read="spark")
    except (SqlglotError, RecursionError, LookupError):
        return None
    # sqlglot reads a column named `values` or `table` as one of these. No expression contains them.
    if parsed.find(exp.Values, exp.Table, exp.Subquery, exp.Command):
        return None
    columns = parsed.find_all(exp.Column)
    return [tuple(part.name.lower() for part in column.parts) for column in columns]


def _words(expression: str) -> Iterator[Path]:
    for quoted, plain in _WORD.findall(expression):
        yield ((quoted.replace("``", "`") or plain).lower(),)


def uses(expression: str, path: Path, schema: StructType | None = None) -> bool:
    """Return whether an expression uses a field, a field inside it, or a field that contains it.

    Args:
        schema: the table's schema. Without it, no part of the path is inside an array or a map.

    Source:
        DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE, DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE
    """
    own = folded(_in_expressions(path, schema))
    return any(used[: len(own)] == own[: len(used)] for used in referenced_paths(expression))


def _in_expressions(path: Path, schema: StructType | None) -> Path:
    """Return a field's path as expressions write it.

    ``items.x`` are the fields ``items.element.x``. ``scores.alice`` is a value of a map: no
    expression has another name for it.
    """
    names: list[str] = []
    inside: DataType | None = schema
    for part in path:
        if isinstance(inside, MapType):
            break
        if not isinstance(inside, ArrayType):
            names.append(part)
        inside = type_in(inside, part)
    return tuple(names)
