"""Decide without Spark whether a table stores exactly the values of a model."""

import math
import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from tests.walk.values import BITS, FLOATS, TEXTS, as_float

ZONE = ZoneInfo("America/New_York")
NUMBERS = (*BITS, *map(type, FLOATS), spark.DecimalType)
EPOCH = datetime(1970, 1, 1)


def same(value: Any, source: DataType, stored: Any, column: DataType, lossy: bool = False) -> bool:
    """Return whether a stored value is the value that was written.

    Args:
        value: what was written.
        source: its type.
        stored: what the table has.
        column: the type that it has there.
        lossy: accept any value where the types alone don't make the write exact.
    """
    if value is None or stored is None:
        lost = lossy and value is not None and not always_exact(source, column)
        return lost or value is stored
    if isinstance(source, StructType) and isinstance(column, StructType):
        return _same_struct(value, source, stored, column, lossy)
    if isinstance(source, ArrayType) and isinstance(column, ArrayType):
        types = (source.elementType, column.elementType)
        return len(value) == len(stored) and all(
            same(element, types[0], kept, types[1], lossy)
            for element, kept in zip(value, stored, strict=True)
        )
    if isinstance(source, MapType) and isinstance(column, MapType):
        return _same_map(value, source, stored, column, lossy)
    if lossy and not always_exact(source, column):
        return True
    return _same_atom(value, source, stored, column)


def _same_struct(
    value: dict[str, Any],
    source: StructType,
    stored: dict[str, Any],
    column: StructType,
    lossy: bool,
) -> bool:
    given = {field.name.lower(): field for field in source.fields}
    if not given.keys() <= {field.name.lower() for field in column.fields}:
        return False
    for field in column.fields:
        kept, origin = stored[field.name], given.get(field.name.lower())
        if origin is None and kept is not None:
            return False
        if origin is not None and not same(
            value[origin.name], origin.dataType, kept, field.dataType, lossy
        ):
            return False
    return True


def _same_map(
    value: list[Any], source: MapType, stored: list[Any], column: MapType, lossy: bool
) -> bool:
    if lossy and not always_exact(source.keyType, column.keyType):
        return True
    rest = list(stored)
    for key, item in value:
        for entry in rest:
            if same(key, source.keyType, entry[0], column.keyType, lossy) and same(
                item, source.valueType, entry[1], column.valueType, lossy
            ):
                rest.remove(entry)
                break
        else:
            return False
    return not rest


def _same_atom(value: Any, source: DataType, stored: Any, column: DataType) -> bool:
    kinds = type(source), type(column)
    if kinds[0] in NUMBERS and kinds[1] in NUMBERS:
        return _same_number(value, stored)
    if kinds[0] in TEXTS and kinds[1] in TEXTS:
        return bool(value == stored)
    if kinds[1] in TEXTS:
        return _reads_as(stored, value, source)
    if kinds[0] in TEXTS:
        # The text has to be the text of the stored value.
        return canonical(value, column) and _reads_as(value, stored, column)
    if kinds == (spark.DateType, spark.TimestampType):
        return bool(stored == midnight(value))
    if kinds == (spark.DateType, spark.TimestampNTZType):
        return bool(stored == datetime(value.year, value.month, value.day))
    if kinds == (spark.TimestampNTZType, spark.DateType):
        return bool(value == datetime(stored.year, stored.month, stored.day))
    return kinds[0] is kinds[1] and value == stored


def _same_number(value: Any, stored: Any) -> bool:
    if not (math.isfinite(value) and math.isfinite(stored)):
        return repr(float(value)) == repr(float(stored))
    if isinstance(value, float) and isinstance(stored, float):
        return value == stored and math.copysign(1, value) == math.copysign(1, stored)
    return Fraction(value) == Fraction(stored)


def _reads_as(text: str, value: Any, data_type: DataType) -> bool:
    """Return whether a text is the text of a value as a string."""
    try:
        if type(data_type) in BITS:
            return text == str(value)
        if isinstance(data_type, spark.DecimalType):
            return Decimal(text) == value
        if isinstance(data_type, spark.FloatType):
            return _same_number(as_float(float(text)), value)
        if isinstance(data_type, spark.DoubleType):
            return _same_number(float(text), value)
        if isinstance(data_type, spark.BooleanType):
            return text == str(value).lower()
        if isinstance(data_type, spark.DateType):
            return text == value.isoformat()
        if isinstance(data_type, spark.TimestampNTZType):
            return text == datetime_text(value)
    except (ValueError, ArithmeticError):
        return False
    # A timestamp's text depends on the session's time zone. Binary can be invalid as text.
    return False


CANONICAL = {
    spark.DecimalType: r"-?(0|[1-9]\d*)(\.\d+)?",
    spark.FloatType: r"-?\d+\.\d+(E-?\d+)?|NaN|-?Infinity",
    spark.DoubleType: r"-?\d+\.\d+(E-?\d+)?|NaN|-?Infinity",
}


def canonical(text: str, data_type: DataType) -> bool:
    """Return whether a text is one that Spark writes for a value of a type."""
    pattern = CANONICAL.get(type(data_type))
    if pattern is None:
        return True
    if isinstance(data_type, spark.DecimalType):
        digits = len(text.partition(".")[2])
        return bool(re.fullmatch(pattern, text)) and digits == data_type.scale
    return bool(re.fullmatch(pattern, text))


def datetime_text(value: datetime) -> str:
    whole, _, fraction = value.isoformat(" ").partition(".")
    return f"{whole}.{fraction.rstrip('0')}" if fraction else whole


def midnight(day: date) -> int:
    """Return the start of a day in the session's time zone, in microseconds since 1970."""
    local = datetime(day.year, day.month, day.day)
    offset = local.replace(tzinfo=ZONE).utcoffset() or timedelta()
    return (local - EPOCH - offset) // timedelta(microseconds=1)


def always_exact(source: DataType, column: DataType) -> bool:
    """Return whether the types alone make a write exact: the first table of docs/decisions.md."""
    if source == column or isinstance(source, spark.NullType):
        return True
    if isinstance(source, ArrayType) and isinstance(column, ArrayType):
        return always_exact(source.elementType, column.elementType)
    if isinstance(source, MapType) and isinstance(column, MapType):
        return always_exact(source.keyType, column.keyType) and always_exact(
            source.valueType, column.valueType
        )
    if isinstance(source, StructType) and isinstance(column, StructType):
        given = {field.name.lower(): field.dataType for field in source.fields}
        table = {field.name.lower(): field.dataType for field in column.fields}
        return given.keys() == table.keys() and all(
            always_exact(given[name], table[name]) for name in given
        )
    return _always_exact_atom(source, column)


def _always_exact_atom(source: DataType, column: DataType) -> bool:
    kinds = type(source), type(column)
    if kinds[0] in BITS:
        return _holds_integers(column, 2 ** BITS[kinds[0]])
    if isinstance(source, spark.DecimalType):
        if isinstance(column, spark.DecimalType):
            more = column.precision - source.precision, column.scale - source.scale
            return more[0] >= more[1] >= 0
        whole = source.scale == 0 and kinds[1] in NUMBERS
        return kinds[1] is spark.StringType or (
            whole and _holds_integers(column, 10**source.precision - 1)
        )
    # A shorter char is padded, and a text may be too long for its varchar.
    if kinds[0] in TEXTS:
        return kinds[1] is spark.StringType
    datetimes = (spark.TimestampType, spark.TimestampNTZType)
    texts = {spark.BooleanType, spark.DateType, spark.TimestampNTZType, *map(type, FLOATS)}
    return (
        kinds == tuple(map(type, FLOATS))
        or (kinds[0] is spark.DateType and kinds[1] in datetimes)
        or (kinds[0] in texts and kinds[1] is spark.StringType)
    )


def _holds_integers(column: DataType, largest: int) -> bool:
    if type(column) in BITS:
        return largest <= 2 ** BITS[type(column)]
    if isinstance(column, spark.DecimalType):
        return largest < 10 ** (column.precision - column.scale)
    if isinstance(column, spark.FloatType | spark.DoubleType):
        return largest <= 2 ** (24 if isinstance(column, spark.FloatType) else 53)
    return isinstance(column, spark.StringType) and type(column) not in TEXTS[1:]
