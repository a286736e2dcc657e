"""Find the values that files of some formats do not store unchanged: CSV, JSON, plain text and ORC.

Spark writes the values of text formats as text. With its default options, the text of some values
is read back as another value. In ORC, it converts dates and timestamps to a calendar that changes
in 1582. tests/functional/test_file_formats.py compares this with the engine.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping

from dbt.adapters.base.relation import BaseRelation
from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructType

from dbt.adapters.deltawiden.config.file_options import CHECKED_FORMATS
from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.policy import OnSchemaChange, invalid_configuration
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.any_leaf import OfLeaf, any_leaf_sql
from dbt.adapters.deltawiden.sql.identifiers import Path, columns_named, path_text, quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.queries import select_from
from dbt.adapters.deltawiden.sql.raised_errors import (
    END_OF_MESSAGE,
    LOSSY_FORMAT_VALUE,
    failure_sql,
)
from dbt.adapters.deltawiden.sql.types import every_type, type_sql, type_text
from dbt.adapters.deltawiden.warnings import warn_once
from dbt.adapters.deltawiden.writing.partition_values import is_utf8_sql
from dbt.adapters.deltawiden.writing.value_check import warn_unchecked_columns

# A row ends at each line break. Spaces and control characters around a text are removed, and an
# empty text is read as null.
_CSV_TEXT = r"\A[^\x00-\x20]([^\x00\r\n]*[^\x00-\x20])?\z"
_ONE_LINE = r"\A[^\r\n]*\z"
# A date or time as Spark writes it in a format: without microseconds. Spark's version and its
# settings timeParserPolicy and supportSecondOffsetFormat decide whether the text has the seconds of
# an offset, and in which calendar it is.
_TEXTS = {
    "csv": "to_csv(named_struct('v', {}))",
    "json": "get_json_object(to_json(named_struct('v', {})), '$.v')",
}
_NEVER = "false"
_ADDS_COLUMNS = (OnSchemaChange.APPEND_NEW_COLUMNS, OnSchemaChange.SYNC_ALL_COLUMNS)
_UNREADABLE_LINES = "spark.sql.columnNameOfCorruptRecord"
_XML = (
    "dbt-deltawiden does not check which values file_format xml stores: Spark removes the spaces "
    "around a text, for example. Use another file_format, such as delta or parquet, or set "
    "on_lossy_write: ignore to accept it."
)


def format_conditions(
    schema: StructType, file_format: str, partitioned_by: Container[str], is_alone: bool
) -> dict[str, str]:
    """Return the ``stored_condition`` of each column that has one, by the column's name.

    No file has the partition columns, which are in lower case.
    """
    conditions = {
        field.name: stored_condition(quote(field.name), field.dataType, file_format, is_alone)
        for field in schema.fields
        if field.name.lower() not in partitioned_by
    }
    return {name: condition for name, condition in conditions.items() if condition is not None}


def _checked_sql(
    schema: StructType, conditions: Mapping[str, str], file_format: str, model: str
) -> str:
    """Render the columns of a query, with a check of those that a file format can change."""
    selected = []
    for field in schema.fields:
        name = quote(field.name)
        condition = conditions.get(field.name)
        if condition is None:
            selected.append(name)
            continue
        before = f"[{LOSSY_FORMAT_VALUE}] The model {model} has the value "
        after = (
            f" ({type_text(field.dataType)}) in the column {path_text((field.name,))}. With "
            f"file_format {file_format}, it would be read as another value. {END_OF_MESSAGE}"
        )
        failed = failure_sql(before, _shown_sql(name, field.dataType), after)
        selected.append(f"case when {condition} then {name} else {failed} end as {name}")
    return ", ".join(selected)


def stored_condition(
    value: str, data_type: DataType, file_format: str, is_alone: bool = False
) -> str | None:
    """Render the condition, which is never null, under which a file format stores a value.

    None if the format stores every value of the type, or refuses the type itself.

    Args:
        is_alone: whether the files have no other column.
    """
    if file_format == "text":
        return f"coalesce({value} rlike {literal(_ONE_LINE)}, false)"
    if file_format == "orc":
        return _unless_any_leaf(value, data_type, _changed_in_orc)
    stored = _csv(value, data_type) if file_format == "csv" else _json(value, data_type)
    if file_format == "csv" and is_alone:
        # Null is an empty line, and Spark reads no row from it.
        return f"({value} is not null and {stored or 'true'})"
    return None if stored is None else f"({value} is null or {stored})"


def _csv(value: str, data_type: DataType) -> str | None:
    if isinstance(data_type, spark.StringType | spark.CharType | spark.VarcharType):
        return f"{value} rlike {literal(_CSV_TEXT)} and {is_utf8_sql(value)}"
    if isinstance(data_type, spark.BinaryType):
        return _NEVER
    return _is_read_back(value, data_type, "csv") if _has_pattern(data_type) else None


def _json(value: str, data_type: DataType) -> str | None:
    if any(map(_has_other_keys, every_type(data_type))):
        return _NEVER
    return _unless_any_leaf(value, data_type, _changed_in_json)


def _has_other_keys(inner: DataType) -> bool:
    # Spark can't read them.
    return isinstance(inner, spark.MapType) and not isinstance(inner.keyType, spark.StringType)


def _unless_any_leaf(value: str, data_type: DataType, changed: OfLeaf) -> str | None:
    found = any_leaf_sql(value, data_type, (), changed)
    return found and f"not coalesce({found}, false)"


def _changed_in_json(value: str, data_type: DataType, path: Path) -> str | None:
    if _has_pattern(data_type):
        return f"not ({_is_read_back(value, data_type, 'json')})"
    return f"not ({is_utf8_sql(value)})" if isinstance(data_type, spark.StringType) else None


def _changed_in_orc(value: str, data_type: DataType, path: Path) -> str | None:
    if isinstance(data_type, spark.DateType):
        return f"{value} between date'1582-10-05' and date'1582-10-14'"
    if isinstance(data_type, spark.TimestampType):
        # Before 1900, the older calendar has other offsets of Java's time zone. In the last second
        # before 1970, a fraction is added to the wrong second.
        old = f"{value} >= timestamp'1582-10-04 00:00:00Z' and year({value}) < 1900"
        return f"{old} or unix_micros({value}) between -999999 and -1"
    return None


def _has_pattern(data_type: DataType) -> bool:
    """Return whether Spark writes values of a type by a pattern of dates and times."""
    return isinstance(data_type, spark.DateType | spark.TimestampType | spark.TimestampNTZType)


def _is_read_back(value: str, data_type: DataType, file_format: str) -> str:
    text = _TEXTS[file_format].format(value)
    return f"try_cast({text} as {type_sql(data_type)}) <=> {value}"


def _shown_sql(value: str, data_type: DataType) -> str:
    shown = f"hex({value})" if isinstance(data_type, spark.BinaryType) else f"string({value})"
    return f"left(coalesce({shown}, 'null'), 200)"


def _require_readable(names: Iterable[str], of_unreadable_lines: str, spec: ModelSpec) -> None:
    """Refuse names of columns with which Spark reads other rows than it wrote."""
    for name in names:
        # With the option header, a name with a line break would be two lines.
        has_lines = spec.file_format == "csv" and re.search(r"[\r\n]", name)
        if has_lines or name == of_unreadable_lines:
            text = (
                f"file_format: with a column {name!r}, Spark reads other values from a "
                f"{spec.file_format} table than it wrote. Give the column another name in the "
                "model, or use another file_format, such as delta or parquet."
            )
            raise invalid_configuration(spec.name, [text])


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(str.lower, names))


def checked_format_query(
    backend: SqlBackend,
    query: str,
    spec: ModelSpec,
    table: BaseRelation | None = None,
    schema: Callable[[], StructType] = StructType,
) -> str:
    """Check the values of a model whose table has a format that does not store every value.

    Args:
        table: the table, if it exists and is not replaced.
        schema: reads its schema.

    Returns:
        A query with the same rows, which ends with an error if the format would not store a value
        exactly; ``query`` itself if nothing has to be checked.

    Raises:
        DbtConfigError: with the name of a column, Spark reads other values than it wrote.
    """
    if spec.file_format == "xml" and not spec.ignores_values:
        warn_once(_XML, f"{spec.name} (the first node with it in this run)")
    if spec.file_format not in CHECKED_FORMATS or spec.ignores_values:
        return query
    produced = backend.schema_to_check(query)
    columns, partitioned_by = _folded(produced.names), columns_named(spec.partition_by)
    if table is not None:
        # The configuration can have changed since the table was created.
        partitioned_by = _folded(backend.partition_schema(table).names)
        added = columns if spec.policy.on_schema_change in _ADDS_COLUMNS else frozenset()
        columns = _folded(schema().names) | added
    is_alone = len(columns - partitioned_by) == 1
    conditions = format_conditions(produced, spec.file_format, partitioned_by, is_alone)
    if not spec.checks_values:
        warn_unchecked_columns(f"The {spec.file_format} table of {spec.name}", list(conditions))
        return query
    if spec.file_format in ("csv", "json"):
        names = [name for name in produced.names if name.lower() not in partitioned_by]
        _require_readable(names, backend.setting(_UNREADABLE_LINES) or "_corrupt_record", spec)
    if not conditions:
        return query
    return select_from(_checked_sql(produced, conditions, spec.file_format, spec.name), query)
