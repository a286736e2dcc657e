"""Find the values that files of a text format do not store unchanged: CSV, JSON and plain text.

Spark writes the values of these formats as text. With its default options, the text of some values
is read back as another value. tests/functional/test_text_formats.py compares this with the engine.
"""

from collections.abc import Container

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.sql.identifiers import path_text, quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.raised_errors import (
    END_OF_MESSAGE,
    LOSSY_FORMAT_VALUE,
    failure_sql,
)
from dbt.adapters.deltawiden.sql.types import every_type, type_text

TEXT_FORMATS = frozenset({"csv", "json", "text"})
"""The values of ``file_format`` that store values as text."""

# A row ends at each line break. Spaces and control characters around a text are removed, and an
# empty text is read as null.
_CSV_TEXT = r"\A[^\x00-\x20]([^\x00\r\n]*[^\x00-\x20])?\z"
_ONE_LINE = r"\A[^\r\n]*\z"
# Times are written in milliseconds.
_MICROSECONDS = r"\.[0-9]{4,6}$"
_NEVER = "false"


def text_checked_sql(
    schema: StructType, file_format: str, partitioned_by: Container[str], model: str
) -> str:
    """Render the columns of a query, with a check of those that a text format can change.

    Args:
        schema: the schema of the query.
        file_format: one of ``TEXT_FORMATS``.
        partitioned_by: the partition columns, in lower case, which no file has.
        model: the model's name.

    Returns:
        The select list, or an empty text if the format stores every value of the types.
    """
    selected = []
    for field in schema.fields:
        name = quote(field.name)
        condition = stored_condition(name, field.dataType, file_format)
        if condition is None or field.name.lower() in partitioned_by:
            selected.append(name)
            continue
        before = f"[{LOSSY_FORMAT_VALUE}] The model {model} has the value "
        after = (
            f" ({type_text(field.dataType)}) in the column {path_text((field.name,))}. With "
            f"file_format {file_format}, it would be read as another value. {END_OF_MESSAGE}"
        )
        failed = failure_sql(before, _shown_sql(name, field.dataType), after)
        selected.append(f"case when {condition} then {name} else {failed} end as {name}")
    is_checked = any(not text.startswith("`") for text in selected)
    return ", ".join(selected) if is_checked else ""


def stored_condition(value: str, data_type: DataType, file_format: str) -> str | None:
    """Render the condition under which a text format stores a value.

    Args:
        value: an SQL expression.
        data_type: its type.
        file_format: one of ``TEXT_FORMATS``.

    Returns:
        A condition that is never null, or None if the format stores every value of the type, or
        refuses the type itself.
    """
    if file_format == "text":
        return f"coalesce({value} rlike {literal(_ONE_LINE)}, false)"
    stored = _csv(value, data_type) if file_format == "csv" else _json(value, data_type)
    return None if stored is None else f"({value} is null or {stored})"


def _csv(value: str, data_type: DataType) -> str | None:
    if isinstance(data_type, spark.StringType | spark.CharType | spark.VarcharType):
        return f"{value} rlike {literal(_CSV_TEXT)}"
    if isinstance(data_type, spark.BinaryType):
        return _NEVER
    return _in_milliseconds(value) if _is_time(data_type) else None


def _json(value: str, data_type: DataType) -> str | None:
    if _is_time(data_type):
        return _in_milliseconds(value)
    return _NEVER if any(map(_is_changed_in_json, every_type(data_type))) else None


def _is_changed_in_json(inner: DataType) -> bool:
    if isinstance(inner, spark.MapType):
        # Spark can't read other keys.
        return not isinstance(inner.keyType, spark.StringType)
    return _is_time(inner)


def _is_time(data_type: DataType) -> bool:
    return isinstance(data_type, spark.TimestampType | spark.TimestampNTZType)


def _in_milliseconds(value: str) -> str:
    return f"cast({value} as string) not rlike {literal(_MICROSECONDS)}"


def _shown_sql(value: str, data_type: DataType) -> str:
    shown = f"hex({value})" if isinstance(data_type, spark.BinaryType) else f"string({value})"
    return f"left(coalesce({shown}, 'null'), 200)"
