"""Check the values in the rows of a unit test against the types that dbt casts them to.

dbt casts them to the types of the model's output. If the model rounds 1.2367 to a decimal(8,2), the
cast rounds the expected 1.2367 too, and the test would pass.
"""

import re
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any

from dbt_common.exceptions import CompilationError
from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.literals import expression_in
from dbt.adapters.deltawiden.sql.types import UnknownType, parse_type
from dbt.adapters.deltawiden.writing.seeds import text_check
from dbt.adapters.deltawiden.writing.store_assignment import INTEGER_BITS

_CALLER = "macro.dbt.format_row"
"""The macro of dbt that casts the values of a unit test. A model can cast values too."""

_EXACT = (*INTEGER_BITS, spark.DecimalType)
_TIMES = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)

# What Spark's casts can read as a number or a time. Source: UTF8String, SparkDateTimeUtils;
# SpecialDatetimeValues for the words.
_NUMBER = re.compile(
    r"[+-]?(0x.+|((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)[df]?)", re.ASCII | re.IGNORECASE
)
_WORD = re.compile(r"(epoch|now|today|tomorrow|yesterday)\b", re.IGNORECASE)
_TIME_ALONE = re.compile(r"T\d{1,2}|T?\d{1,2}:.*", re.ASCII | re.DOTALL)
_DAY = re.compile(
    r"(?P<sign>[+-]?)(?P<year>\d{4,7})"
    r"(-(?P<month>\d{1,2})(-(?P<day>\d{1,2})([ T](?P<clock>.*))?)?)?",
    re.ASCII | re.DOTALL,
)
_CLOCK = re.compile(r"(\d+)(?::(\d+)(?::(\d+))?)?", re.ASCII)


def check_fixture(context: Mapping[str, Any], rendered: Any, type_: str) -> None:
    """Check a value that a macro casts to a type, if it is in the rows of a unit test.

    Args:
        context: of the macro.
        rendered: a number, or an expression. A literal is a text that ``literal`` has rendered.

    Raises:
        CompilationError: the cast would change the value.
    """
    if _CALLER not in context["context_macro_stack"].call_stack or not is_changed(rendered, type_):
        return
    model, value = context["model"], _value(rendered)
    rows = context["config"].get("expected_rows") or ()
    names = {name: None for row in rows for name, each in row.items() if each == value}
    column = f"the column {' or '.join(names)}" if names else "a column"
    is_test = model["resource_type"] == "unit_test"
    place = f"{model['name']} expects" if is_test else f"the input {model['name']} has"
    raise CompilationError(
        f"In this unit test, {place} the value {value!r} for {column} of type {type_}. Spark "
        "would make another value of it, or null, so the test could pass although the model "
        f"returns another value. Write a value that {type_} has, or give the column another type."
    )


def is_changed(rendered: Any, type_: str) -> bool:
    """Return whether a cast changes a value for certain. If not, Spark decides."""
    try:
        column = parse_type(type_)
    except UnknownType:
        return False
    value = _value(rendered)
    if isinstance(rendered, str):
        text = value.strip()
        # In a CSV file, these can be meant as null, which they become.
        is_literal = value != rendered and text.lower() not in ("", "null")
        return is_literal and not _can_be_read(text, column)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not isinstance(column, _EXACT):
        return False
    number = Decimal(str(value))
    return number.is_finite() and not text_check(column)(f"{number:f}")


def _value(rendered: Any) -> Any:
    return expression_in(rendered) if isinstance(rendered, str) else rendered


def _can_be_read(text: str, column: DataType) -> bool:
    if isinstance(column, (spark.FloatType, spark.DoubleType)):
        return bool(_NUMBER.fullmatch(text))
    if isinstance(column, _TIMES):
        return _is_time(text, isinstance(column, spark.DateType))
    if isinstance(column, (*_EXACT, spark.BooleanType)):
        return text_check(column)(text)
    return True


def _is_time(text: str, is_day: bool) -> bool:
    if _WORD.match(text):
        return True
    found = _DAY.fullmatch(text)
    if found is None:
        return not is_day and bool(_TIME_ALONE.fullmatch(text))
    clock = _CLOCK.match(found["clock"] or "")
    hour, minute, second = (int(part or 0) for part in (clock.groups() if clock else "000"))
    try:
        at = time(hour, minute, second)
        if not found["sign"] and len(found["year"]) == 4 and int(found["year"]):
            date(int(found["year"]), int(found["month"] or 1), int(found["day"] or 1))
    except ValueError:
        return False
    return not is_day or at == time()
