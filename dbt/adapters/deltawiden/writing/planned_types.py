"""Check in the statement itself that the table still has the types that the run has planned for.

Another writer can replace the table between the plan and the write. If a type is narrower then,
the engine casts the values to it, and Delta raises no error.
"""

from collections.abc import Sequence

from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.raised_errors import END_OF_MESSAGE, TABLE_TYPES_CHANGED
from dbt.adapters.deltawiden.sql.types import UnreadableType, contains, type_sql


def types_unchanged_sql(
    table: str, columns: Sequence[StructField], by_position: bool = False
) -> str:
    """Render a condition that is true, or fails if a column of the table has another type.

    Spark evaluates the condition when it plans the statement, and reads no row of the table for
    it. It analyses the table once for the whole statement, so the condition is about the types to
    which the values are written.

    Args:
        by_position: whether the statement writes ``columns`` by position. Then the table must have
            these columns in this order, and no other.

    Source:
        https://spark.apache.org/docs/latest/api/sql/ (typeof, assert_true)
    """
    known = [column for column in columns if not contains(column.dataType, UnreadableType)]
    if not known:
        return "true"
    names = ", ".join(quote(column.name) for column in known)
    if by_position and len(known) == len(columns):
        names = "*"
    found = f"typeof((select struct({names}) from {table} limit 0))"
    planned = f"typeof(cast(null as {type_sql(StructType(known))}))"
    message = (
        f"[{TABLE_TYPES_CHANGED}] Another writer has changed the columns of {table} during this "
        f"run. {END_OF_MESSAGE}"
    )
    return f"assert_true({found} = {planned}, {literal(message)}) is null"
