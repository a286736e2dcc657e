"""The errors that the adapter's own SQL raises, and the remedy for each."""

from collections.abc import Mapping

from dbt.adapters.deltawiden.sql.literals import literal

LOSSY_VALUE = "LOSSY_VALUE"
"""The error condition for a value that its column does not store exactly."""

LOSSY_PARTITION_VALUE = "LOSSY_PARTITION_VALUE"
"""The error condition for a value that a partition column does not store exactly."""

LOSSY_FORMAT_VALUE = "LOSSY_FORMAT_VALUE"
"""The error condition for a value that a file format does not store exactly."""

ROW_OUTSIDE_BATCH = "ROW_OUTSIDE_BATCH"
"""The error condition for a row that is outside the batch of a microbatch model."""

ROW_NOT_REPLACED = "ROW_NOT_REPLACED"
"""The error condition for a row that ``replace_where`` would not replace in the next run."""

TABLE_TYPES_CHANGED = "TABLE_TYPES_CHANGED"
"""The error condition for a table whose types another writer has changed after the plan."""

END_OF_MESSAGE = "Nothing was written."

LOSSY_VALUE_REMEDY = (
    "Cast the column in the model, set on_schema_change to append_new_columns or sync_all_columns "
    "if the table can be widened, or set on_lossy_write: warn to write such values all the same."
)

REMEDIES: Mapping[str, str] = {
    LOSSY_VALUE: LOSSY_VALUE_REMEDY,
    LOSSY_PARTITION_VALUE: (
        "Select another value for it, such as null: nullif(column, ''). With Delta 3.3 and 4.0, a "
        "timestamp also needs the session's time zone to be Java's (-Duser.timezone). Or set "
        "on_lossy_write: ignore to write such values all the same."
    ),
    LOSSY_FORMAT_VALUE: (
        "Use another file_format, such as delta or parquet, or select another value. Or set "
        "on_lossy_write: ignore to write such values all the same."
    ),
    ROW_OUTSIDE_BATCH: (
        "A batch replaces only its own rows, so the next run would store this row a second time. "
        "Set event_time for the models and sources that the model reads, so that dbt selects only "
        "what is in the batch."
    ),
    ROW_NOT_REPLACED: (
        "The next run would not replace this row, so it would be there twice. Filter the model by "
        "the same condition, or extend incremental_predicates."
    ),
    TABLE_TYPES_CHANGED: "Run the model again when the other writer has ended.",
}
"""What a user can do about each condition."""


def failure_sql(before: str, shown: str, after: str) -> str:
    """Render an expression that stops the statement with an error message about a value.

    Args:
        before: the text of the message before the value.
        shown: an SQL expression that returns the value as text.
        after: the text of the message after the value.

    Source:
        https://spark.apache.org/docs/latest/api/sql/ (raise_error), which raises
        USER_RAISED_EXCEPTION
    """
    return f"raise_error(concat({literal(before)}, {shown}, {literal(after)}))"


def value_or_failure_sql(condition: str, name: str, failure: str) -> str:
    """Render a column that stops the statement if its row does not meet a condition.

    It is a selected expression and not a filter, because Spark could evaluate a filter before the
    filters of the model.

    Args:
        name: the column, quoted.
    """
    return f"case when {condition} then {name} else {failure} end as {name}"
