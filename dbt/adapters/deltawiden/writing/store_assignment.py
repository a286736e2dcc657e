"""Decide whether a column stores every value of another type exactly.

Delta casts the values that are written to a column of another type. It refuses some pairs of types.
For other pairs, the cast may round, truncate, convert to another kind of value, or fail.
"""

from enum import Enum

from pyspark.sql import types as spark
from pyspark.sql.types import DataType


class StoreAssignment(Enum):
    """How a column stores the values of another type."""

    EXACT = "exact"
    IN_RANGE = "exact in range"
    LOSSY = "lossy"
    IMPOSSIBLE = "impossible"

    @property
    def fits(self) -> bool:
        """Whether the column's type is the right one, even if its range is smaller."""
        return self in (StoreAssignment.EXACT, StoreAssignment.IN_RANGE)

    @property
    def needs_check(self) -> bool:
        """Whether a write has to check the values."""
        return self in (StoreAssignment.IN_RANGE, StoreAssignment.LOSSY)


# A signed integer of n value bits holds -2**n to 2**n - 1.
INTEGER_BITS: dict[type[DataType], int] = {
    spark.ByteType: 7,
    spark.ShortType: 15,
    spark.IntegerType: 31,
    spark.LongType: 63,
}

# IEEE 754: every integer up to 2**n is exact if the significand has n bits.
SIGNIFICAND_BITS: dict[type[DataType], int] = {spark.FloatType: 24, spark.DoubleType: 53}

_KINDS: dict[type[DataType], str] = {
    **dict.fromkeys(INTEGER_BITS, "integer"),
    **dict.fromkeys(SIGNIFICAND_BITS, "floating"),
    spark.DecimalType: "decimal",
    spark.BooleanType: "boolean",
    spark.StringType: "string",
    spark.CharType: "string",
    spark.VarcharType: "string",
    spark.BinaryType: "binary",
    spark.DateType: "date",
    spark.TimestampType: "timestamp",
    spark.TimestampNTZType: "timestamp_ntz",
    spark.DayTimeIntervalType: "interval",
    spark.YearMonthIntervalType: "interval",
}
if hasattr(spark, "VariantType"):  # Spark 4.0
    _KINDS[spark.VariantType] = "variant"

STORE_ASSIGNMENT_POLICY = "spark.sql.storeAssignmentPolicy"
"""The setting that decides which types Spark casts to the type of a column that it writes,
https://spark.apache.org/docs/latest/configuration.html"""

NUMBERS = frozenset({"integer", "decimal", "floating"})
_DATETIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
_IN_TABLES = NUMBERS | _DATETIMES | {"boolean", "string", "binary", "variant"}

# The kinds of column that accept each kind of value: Spark's casts under ANSI rules,
# https://spark.apache.org/docs/latest/sql-ref-ansi-compliance.html#cast, regardless of
# the store assignment policy. tests/conformance compares them with the engine.
_ACCEPTED_BY: dict[str, frozenset[str]] = {
    **dict.fromkeys(NUMBERS, NUMBERS | {"boolean", "timestamp", "string", "variant"}),
    "boolean": NUMBERS | {"boolean", "string", "variant"},
    "string": _IN_TABLES,
    "binary": frozenset({"binary", "string", "variant"}),
    "date": _DATETIMES | {"string", "variant"},
    "timestamp": _DATETIMES | NUMBERS | {"string", "variant"},
    "timestamp_ntz": _DATETIMES | {"string", "variant"},
    "interval": frozenset({"integer", "decimal", "string"}),
    "variant": _IN_TABLES,
}

# A date becomes its first moment, in the session's time zone for timestamp. Dates reach further
# than timestamps, and a time zone can have skipped a whole day: Pacific/Apia had no 2011-12-30.
_IN_RANGE = frozenset({("date", "timestamp"), ("date", "timestamp_ntz")})

# Pairs of different kinds, other than two kinds of number, that keep every value. From a timestamp
# to a date, the time of day is lost. Between timestamp and timestamp_ntz, and from timestamp to
# string, an hour is lost that a change of daylight saving time skips or repeats. A binary value as
# a string has to be UTF-8.
_EXACT = frozenset(
    {
        *((kind, "variant") for kind in _IN_TABLES),
        *((kind, "string") for kind in NUMBERS),
        *((kind, "string") for kind in ("boolean", "date", "timestamp_ntz", "interval")),
    }
)


def kind_of(data_type: DataType) -> str | None:
    """Return the kind of an atomic type's values, such as ``integer``. None for an unknown type."""
    return _KINDS.get(type(data_type))


def is_storable(data_type: DataType) -> bool:
    """Return whether a Delta column can have an atomic type that is known here.

    It can't be an interval or a string with a collation.

    Source:
        DELTA_UNSUPPORTED_DATA_TYPES
    """
    if isinstance(data_type, spark.NullType):
        return True
    is_collated = type(data_type) is spark.StringType and data_type != spark.StringType()
    return kind_of(data_type) in _IN_TABLES and not is_collated


def store_assignment(source: DataType, column: DataType) -> StoreAssignment:
    """Return how a column stores the values of another type.

    Returns:
        ``EXACT`` if every value of ``source`` is stored unchanged. ``IN_RANGE`` if every value is
        that the column's range has, and no other type would hold more. ``LOSSY`` if the engine
        accepts the write, but changes some values, converts them to another kind of value, or fails
        at them. ``IMPOSSIBLE`` if the engine refuses the write, whatever its values are. Types that
        are unknown here are ``IMPOSSIBLE``, unless they are equal.
    """
    if source == column or isinstance(source, spark.NullType):
        return StoreAssignment.EXACT
    source_kind, column_kind = kind_of(source), kind_of(column)
    if source_kind is None or column_kind not in _ACCEPTED_BY[source_kind]:
        return StoreAssignment.IMPOSSIBLE
    if (source_kind, column_kind) in _IN_RANGE:
        return StoreAssignment.IN_RANGE
    return (
        StoreAssignment.EXACT
        if _is_exact(source, source_kind, column, column_kind)
        else StoreAssignment.LOSSY
    )


def _is_exact(source: DataType, source_kind: str, column: DataType, column_kind: str) -> bool:
    if source_kind in NUMBERS and column_kind in NUMBERS:
        return _holds_numbers(source, column)
    if isinstance(column, spark.CharType):
        return False  # A shorter text is padded with spaces.
    if isinstance(column, spark.VarcharType):
        # Spark removes the spaces at the end that make a text too long.
        return isinstance(source, spark.VarcharType) and source.length <= column.length
    # Strings with different collations store the same characters.
    return source_kind == column_kind or (source_kind, column_kind) in _EXACT


def _holds_numbers(source: DataType, column: DataType) -> bool:
    if isinstance(source, spark.DecimalType):
        return _holds_decimal(source, column)
    if type(source) in INTEGER_BITS:
        return _holds_integers(column, 2 ** INTEGER_BITS[type(source)])
    return SIGNIFICAND_BITS.get(type(column), 0) >= SIGNIFICAND_BITS[type(source)]


def _holds_decimal(source: spark.DecimalType, column: DataType) -> bool:
    if isinstance(column, spark.DecimalType):
        enough_digits = column.precision - column.scale >= source.precision - source.scale
        return bool(enough_digits and column.scale >= source.scale)
    # No power of ten below one is a sum of powers of two, so only whole numbers can be exact.
    return source.scale == 0 and _holds_integers(column, int(10**source.precision) - 1)


def _holds_integers(column: DataType, largest: int) -> bool:
    """Return whether the column holds every integer from ``-largest`` to ``largest - 1``."""
    if isinstance(column, spark.DecimalType):
        return largest < int(10 ** (column.precision - column.scale))
    if type(column) in INTEGER_BITS:
        return largest <= 1 << INTEGER_BITS[type(column)]
    return largest <= 1 << SIGNIFICAND_BITS[type(column)]
