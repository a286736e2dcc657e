"""Render Spark types as text, and parse text as Spark types."""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path, path_text, quote


class UnknownType(ValueError):
    """A text is not the name of a Spark type, or not certainly."""


class UnreadableType(DataType):
    """A type that can't be read. Only its text is known.

    Args:
        text: the type as the server shows it. Two unreadable types are equal if their texts are.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def simpleString(self) -> str:
        """Return the text."""
        return self.text


@dataclass(frozen=True)
class _Name:
    """The spellings of an atomic type in Spark SQL. The first one is shown to people."""

    spellings: tuple[str, ...]
    make: Callable[[], DataType]


def _names() -> Iterator[_Name]:
    # https://spark.apache.org/docs/latest/sql-ref-datatypes.html, tab "SQL"
    yield _Name(("tinyint", "byte"), spark.ByteType)
    yield _Name(("smallint", "short"), spark.ShortType)
    yield _Name(("int", "integer"), spark.IntegerType)
    yield _Name(("bigint", "long"), spark.LongType)
    yield _Name(("float", "real"), spark.FloatType)
    yield _Name(("double",), spark.DoubleType)
    yield _Name(("decimal", "dec", "numeric"), lambda: spark.DecimalType(10, 0))
    yield _Name(("string",), spark.StringType)
    yield _Name(("binary",), spark.BinaryType)
    yield _Name(("boolean",), spark.BooleanType)
    yield _Name(("date",), spark.DateType)
    yield _Name(("timestamp", "timestamp_ltz"), spark.TimestampType)
    yield _Name(("timestamp_ntz",), spark.TimestampNTZType)
    yield _Name(("void",), spark.NullType)
    if hasattr(spark, "VariantType"):  # Spark 4.0
        yield _Name(("variant",), spark.VariantType)


_BY_SPELLING = {spelling: name.make for name in _names() for spelling in name.spellings}
_SHOWN_AS: dict[type[DataType], str] = {type(n.make()): n.spellings[0] for n in _names()}
_WITH_ARGUMENTS = re.compile(r"(\w+)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")


def type_sql(data_type: DataType) -> str:
    """Render a type as Spark SQL.

    Returns:
        The DDL of the type. Every nested field name is quoted, so it can have any characters.
    """
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
        return [StructField("element", data_type.elementType, data_type.containsNull)]
    if isinstance(data_type, spark.MapType):
        value = StructField("value", data_type.valueType, data_type.valueContainsNull)
        return [StructField("key", data_type.keyType, nullable=False), value]
    return []


def with_types_in(data_type: DataType, types: Sequence[DataType]) -> DataType:
    """Return a type with other types for its ``fields_in``. Everything else of it is kept."""
    if isinstance(data_type, StructType):
        pairs = zip(data_type.fields, types, strict=True)
        return StructType([StructField(f.name, t, f.nullable, f.metadata) for f, t in pairs])
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


def contains(data_type: DataType, wanted: type[DataType]) -> bool:
    """Return whether a type, or a type inside it, is of a class."""
    # A loop, because generators take most of the time of a plan for thousands of nested fields.
    remaining = [data_type]
    while remaining:
        each = remaining.pop()
        if isinstance(each, wanted):
            return True
        remaining += [field.dataType for field in fields_in(each)]
    return False


def parse_type(text: str) -> DataType:
    """Parse the text of an atomic type, in any of Spark's spellings.

    Args:
        text: for example ``bigint``, ``LONG`` or ``decimal(12, 2)``; case does not matter.

    Raises:
        UnknownType: the text is not the name of an atomic type, or its arguments are out of range.
    """
    folded = text.strip().lower()
    if folded in _BY_SPELLING:
        return _BY_SPELLING[folded]()
    match = _WITH_ARGUMENTS.fullmatch(folded)
    if match:
        name, first, second = match.groups()
        return _parametrized(text, name, int(first), None if second is None else int(second))
    raise UnknownType(f"'{text}' is not an atomic type; known are: {', '.join(sorted(_known()))}")


def _known() -> set[str]:
    return {*_SHOWN_AS.values(), "decimal(p,s)", "char(n)", "varchar(n)"}


def _parametrized(text: str, name: str, first: int, second: int | None) -> DataType:
    if name in ("decimal", "dec", "numeric"):
        scale = second or 0
        if not 1 <= first <= 38 or scale > first:
            raise UnknownType(f"'{text}' is out of range: decimal(p,s) needs 1 <= p <= 38, s <= p")
        return spark.DecimalType(first, scale)
    if second is None and first >= 1:
        if name in ("char", "character"):
            return spark.CharType(first)
        if name == "varchar":
            return spark.VarcharType(first)
    raise UnknownType(f"'{text}' is not an atomic type; known are: {', '.join(sorted(_known()))}")


_COLLATED = re.compile(r"string collate (\w+)", re.IGNORECASE)
_INTERVAL_UNITS = ("day", "hour", "minute", "second", "year", "month")


def read_special_type(text: str) -> DataType | None:
    """Parse a type that nobody writes by hand: an interval, or a string with a collation.

    Args:
        text: the text as DESCRIBE shows it, such as ``interval day to second``.

    Returns:
        The type. None if the text is not such a type, or this PySpark does not have the type.
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
    """Parse a number as a 32-bit float.

    Raises:
        OverflowError: the number is too large for a 32-bit float.
    """
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
