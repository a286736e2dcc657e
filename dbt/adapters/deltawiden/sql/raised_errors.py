"""The errors that the adapter's own SQL raises, and the remedy for each."""

from collections.abc import Mapping

from dbt.adapters.deltawiden.sql.literals import literal

# The error conditions. The remedies below say what each is about.
LOSSY_VALUE = "LOSSY_VALUE"
LOSSY_PARTITION_VALUE = "LOSSY_PARTITION_VALUE"
LOSSY_FORMAT_VALUE = "LOSSY_FORMAT_VALUE"
ROW_OUTSIDE_BATCH = "ROW_OUTSIDE_BATCH"
ROW_NOT_REPLACED = "ROW_NOT_REPLACED"
TABLE_TYPES_CHANGED = "TABLE_TYPES_CHANGED"

END_OF_MESSAGE = "Nothing was written."
NEEDS_TYPE_WIDENING = (
    "Programs without type widening can then no longer read the table: see docs/readers.md"
)
"""What a remedy that turns on type widening does to others."""

REMEDIES: Mapping[str, str] = {
    LOSSY_VALUE: (
        "Do one of these: (1) To store such values, set on_schema_change to append_new_columns or "
        "sync_all_columns, and type_widening: true, if the table can be widened. "
        f"{NEEDS_TYPE_WIDENING}. (2) To change such values in the model, cast the column there: "
        "the cast rounds or cuts them. (3) To let the write round or cut them, set on_lossy_write: "
        "warn."
    ),
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
    """Render an expression that stops the statement with a message about a value.

    Args:
        shown: an SQL expression that returns the value as text, between the texts ``before`` and
            ``after`` it.

    Source:
        https://spark.apache.org/docs/latest/api/sql/ (raise_error): USER_RAISED_EXCEPTION
    """
    return f"raise_error(concat({literal(before)}, {shown}, {literal(after)}))"


def value_or_failure_sql(condition: str, name: str, failure: str) -> str:
    """Render a column, whose name is quoted, that fails if its row does not meet a condition.

    It is a selected expression and not a filter, because Spark could evaluate a filter before the
    filters of the model.
    """
    return f"case when {condition} then {name} else {failure} end as {name}"
