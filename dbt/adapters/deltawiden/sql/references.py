"""Which columns an SQL expression of a table's definition uses."""

import logging
import re
from collections.abc import Iterable, Iterator

from dbt.adapters.deltawiden.sql.identifiers import Path

# It warns of what it parses as an opaque command; such an expression is read word by word here.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_WORD = re.compile(r"`((?:[^`]|``)+)`|(\w+)")


def referenced_paths(expression: str) -> frozenset[Path]:
    """Read the columns and nested fields that a CHECK constraint or a generated column uses.

    Args:
        expression: the text that Delta keeps, in Spark SQL.

    Returns:
        Their paths, in lower case. A path ends where the expression does more than name a field:
        of ``arr[0].x`` it is ``arr``. Of an expression that can't be parsed, every word: that may
        be too much, and is never too little.

    Source:
        Delta's protocol, "CHECK Constraints" and "Generated Columns".
    """
    found = _parsed_paths(expression)
    return frozenset(_words(expression) if found is None else found)


def _parsed_paths(expression: str) -> Iterable[Path] | None:
    # Its import takes half a second, of every dbt command, and few tables have such expressions.
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        # As an expression: alone, one that begins with a column named `vacuum` is a statement.
        parsed = sqlglot.parse_one(f"select ({expression}\n)", read="spark")
    except (SqlglotError, RecursionError, LookupError):
        return None
    # What a column named `values` or `table` is read as is never in an expression.
    if parsed.find(exp.Values, exp.Table, exp.Subquery, exp.Command):
        return None
    columns = parsed.find_all(exp.Column)
    return [tuple(part.name.lower() for part in column.parts) for column in columns]


def _words(expression: str) -> Iterator[Path]:
    for quoted, plain in _WORD.findall(expression):
        yield ((quoted.replace("``", "`") or plain).lower(),)


def uses(expression: str, path: Path) -> bool:
    """Tell whether an expression depends on a column or nested field.

    Args:
        expression: as for ``referenced_paths``.
        path: the column or field.

    Returns:
        Whether it uses the field itself, something inside it, or what it is inside of.

    Source:
        DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE, DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE
    """
    folded = tuple(part.lower() for part in path)
    return any(used[: len(folded)] == folded[: len(used)] for used in referenced_paths(expression))
