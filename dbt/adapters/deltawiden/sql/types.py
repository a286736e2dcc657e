"""Render Spark types as text, and parse text as Spark types."""

import json
import re
import struct
from collections.abc import Callable, Iterator, Sequence

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path, path_text, quote

MAX_DECIMAL_PRECISION = 38  # https://spark.apache.org/docs/latest/sql-ref-datatypes.html


class UnknownType(ValueError):
    """A text is not, or may not be, a Spark type."""


class UnreadableType(DataType):
    """A type that can't be read: only its text is known. Two are equal if their texts are."""

    def __init__(self, text: str) -> None:
        self.text = text

    def simpleString(self) -> str:
        """Return the text."""
        return self.text


# The spellings of the atomic types, of which the first one is shown to people:
# https://spark.apache.org/docs/latest/sql-ref-datatypes.html, tab "SQL".
_NAMES: dict[tuple[str, ...], Callable[[], DataType]] = {
    ("tinyint", "byte"): spark.ByteType,
    ("smallint", "short"): spark.ShortType,
    ("int", "integer"): spark.IntegerType,
    ("bigint", "long"): spark.LongType,
    ("float", "real"): spark.FloatType,
    ("double",): spark.DoubleType,
    ("decimal", "dec", "numeric"): lambda: spark.DecimalType(10, 0),
    ("string",): spark.StringType,
    ("binary",): spark.BinaryType,
    ("boolean",): spark.BooleanType,
    ("date",): spark.DateType,
    ("timestamp", "timestamp_ltz"): spark.TimestampType,
    ("timestamp_ntz",): spark.TimestampNTZType,
    ("void",): spark.NullType,
}
if hasattr(spark, "VariantType"):  # Spark 4.0
    _NAMES[("variant",)] = spark.VariantType
_BY_SPELLING = {spelling: make for names, make in _NAMES.items() for spelling in names}
_WITH_ARGUMENTS = re.compile(r"(\w+)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")


def type_sql(data_type: DataType) -> str:
    """Render a type as Spark SQL, in which nested field names can have any characters."""
    return _render(data_type, quote, _atomic_sql)


def type_text(data_type: DataType) -> str:
    """Render a type for people, as Spark shows it. Only names that need quotes are quoted."""
    return _render(data_type, lambda name: path_text((name,)), lambda atomic: atomic.simpleString())


def _render(
    data_type: DataType, name: Callable[[str], str], atomic: Callable[[DataType], str]
) -> str:
    if not isinstance(data_type, CONTAINERS):
        return atomic(data_type)
    inside = [(f.name, _render(f.dataType, name, atomic)) for f in fields_in(data_type)]
    if isinstance(data_type, StructType):
        return f"struct<{', '.join(f'{name(field)}: {text}' for field, text in inside)}>"
    return f"{data_type.typeName()}<{', '.join(text for _, text in inside)}>"


def _atomic_sql(data_type: DataType) -> str:
    # By the setting spark.sql.timestampType, `timestamp` can mean timestamp_ntz.
    if isinstance(data_type, spark.TimestampType):
        return "timestamp_ltz"
    # simpleString is correct for every other atomic type, including parameters and collations.
    return data_type.simpleString()


CONTAINERS = (StructType, spark.ArrayType, spark.MapType)
"""The types that have other types inside. All others are atomic."""


def fields_in(data_type: DataType) -> list[StructField]:
    """List what is directly inside a type: the fields of a struct, of an array its ``element``, of
    a map its ``key`` and its ``value``."""
    if isinstance(data_type, StructType):
        return list(data_type.fields)
    if isinstance(data_type, spark.ArrayType):
        return [StructField("element", data_type.elementType)]
    if isinstance(data_type, spark.MapType):
        key = StructField("key", data_type.keyType)
        return [key, StructField("value", data_type.valueType)]
    return []


def with_types_in(data_type: DataType, types: Sequence[DataType]) -> DataType:
    """Return a type with other types for its ``fields_in``. Everything else of it is kept."""
    if isinstance(data_type, StructType):
        pairs = zip(data_type.fields, types, strict=True)
        return StructType(
            [
                f if f.dataType is t else StructField(f.name, t, f.nullable, f.metadata)
                for f, t in pairs
            ]
        )
    if isinstance(data_type, spark.ArrayType):
        (element,) = types
        return spark.ArrayType(element, data_type.containsNull)
    if isinstance(data_type, spark.MapType):
        key, value = types
        return spark.MapType(key, value, data_type.valueContainsNull)
    return data_type


def walk(
    data_type: DataType, path: Path = (), into: type | tuple[type, ...] = CONTAINERS
) -> Iterator[tuple[Path, DataType]]:
    """Yield a type and all types inside it, each with its path and before the types inside it.

    Args:
        into: the types that are entered. With ``StructType``, an array or a map is a leaf.
    """
    yield path, data_type
    if isinstance(data_type, into):
        for field in fields_in(data_type):
            yield from walk(field.dataType, (*path, field.name), into)


def every_type(data_type: DataType) -> Iterator[DataType]:
    """Return a type and all types inside it. Each type comes before the types inside it."""
    return (inner for _, inner in walk(data_type))


def leaves(data_type: DataType) -> Iterator[DataType]:
    """Return the atomic types inside a type, in order."""
    return (inner for inner in every_type(data_type) if not isinstance(inner, CONTAINERS))


def contains(data_type: DataType, wanted: type[DataType] | tuple[type[DataType], ...]) -> bool:
    """Return whether a type, or a type inside it, is of a class."""
    # A loop, because generators take most of the time of a plan for thousands of nested fields.
    remaining = [data_type]
    while remaining:
        each = remaining.pop()
        if isinstance(each, wanted):
            return True
        remaining += [field.dataType for field in fields_in(each)]
    return False


def schema_from_json(text: str) -> StructType:
    """Return the schema of a text in Spark's JSON format, as Delta's log has it."""
    return StructType.fromJson(json.loads(text))


def parse_type(text: str) -> DataType:
    """Parse the text of an atomic type, in any of Spark's spellings and in any case.

    Raises:
        UnknownType: the text is not the name of an atomic type, or its arguments are out of range.
    """
    folded = text.strip().lower()
    if folded in _BY_SPELLING:
        return _BY_SPELLING[folded]()
    match = _WITH_ARGUMENTS.fullmatch(folded)
    found = _parametrized(text, match[1], int(match[2]), match[3]) if match else None
    if found is None:
        shown = {*(names[0] for names in _NAMES), "decimal(p,s)", "char(n)", "varchar(n)"}
        raise UnknownType(f"'{text}' is not an atomic type; known are: {', '.join(sorted(shown))}")
    return found


def _parametrized(text: str, name: str, first: int, second: str | None) -> DataType | None:
    if name in ("decimal", "dec", "numeric"):
        scale = int(second or 0)
        if not 1 <= first <= MAX_DECIMAL_PRECISION or scale > first:
            raise UnknownType(f"'{text}' is out of range: decimal(p,s) needs 1 <= p <= 38, s <= p")
        return spark.DecimalType(first, scale)
    if second is None and first >= 1:
        if name in ("char", "character"):
            return spark.CharType(first)
        if name == "varchar":
            return spark.VarcharType(first)
    return None


_COLLATED = re.compile(r"string collate (\w+)", re.IGNORECASE)
_INTERVAL_UNITS = ("day", "hour", "minute", "second", "year", "month")


def read_special_type(text: str) -> DataType | None:
    """Parse a type that nobody writes: ``interval day to second``, ``string collate UNICODE``.

    None if the text is not such a type, or this PySpark does not have the type.
    """
    collated = _COLLATED.fullmatch(text)
    if collated and hasattr(spark.StringType(), "collation"):  # Spark 4.0
        return spark.StringType(collated.group(1))
    words = text.lower().split()
    if len(words) not in (2, 4) or words[0] != "interval" or words[2:3] not in ([], ["to"]):
        return None
    first, last = words[1], words[-1]
    for interval, units in (
        (spark.DayTimeIntervalType, _INTERVAL_UNITS[:4]),
        (spark.YearMonthIntervalType, _INTERVAL_UNITS[4:]),
    ):
        if first in units and last in units:
            return interval(units.index(first), units.index(last))
    return None


def nearest_float(text: str) -> float:
    """Parse a number as a 32-bit float. An OverflowError says that it is too large."""
    return float(struct.unpack("f", struct.pack("f", float(text)))[0])


def is_in_map_key(path: Path, table: StructType) -> bool:
    """Return whether a path is the key of a map, or inside it."""
    current: DataType | None = table
    for part in path:
        if isinstance(current, spark.MapType) and part == "key":
            return True
        current = type_in(current, part)
    return False


def type_in(data_type: DataType | None, name: str) -> DataType | None:
    """Return the type of one of a type's ``fields_in``, in any case. None if there is none."""
    inside = fields_in(data_type) if data_type else ()
    return next((f.dataType for f in inside if f.name.lower() == name.lower()), None)


def limited(schema: StructType, names: Sequence[str]) -> StructType:
    """Return the columns of a schema that have one of the names, in lower case; without any all."""
    return StructType([f for f in schema.fields if not names or f.name.lower() in names])
