"""The errors that our SQL raises itself, and how they are recognised."""

from dbt.adapters.deltawiden.sql.literals import literal

LOSSY_VALUE = "LOSSY_VALUE"
"""Marks the error of a value that was checked and is not exact, as Spark marks its conditions."""


END_OF_MESSAGE = "Nothing was written."


def failure_sql(before: str, shown: str, after: str) -> str:
    """Render the expression that ends the statement with a message about a value.

    Args:
        before: the message's text before the value.
        shown: an SQL expression for the value as text.
        after: the text after it.

    Source:
        https://spark.apache.org/docs/latest/api/sql/ (raise_error), which raises
        USER_RAISED_EXCEPTION
    """
    return f"raise_error(concat({literal(before)}, {shown}, {literal(after)}))"


ROW_OUTSIDE_BATCH = "ROW_OUTSIDE_BATCH"
"""Marks the error of a row that is not in the batch, as Spark marks its conditions."""
