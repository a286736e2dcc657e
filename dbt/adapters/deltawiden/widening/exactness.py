"""Whether a column stores every value of another type exactly.

Spark writes a value into a column of another type by its store assignment rules
(``spark.sql.storeAssignmentPolicy=ANSI``, the default): it refuses some pairs of types outright,
casts the others, and a cast may round, truncate or fail.
"""

from enum import Enum

from pyspark.sql import types as spark
from pyspark.sql.types import DataType


class Storage(Enum):
    """What becomes of a type's values in a column of another type."""

    EXACT = "exact"
    LOSSY = "lossy"
    IMPOSSIBLE = "impossible"


# A signed integer of n value bits holds -2**n to 2**n - 1.
INTEGER_BITS: dict[type[DataType], int] = {
    spark.ByteType: 7,
    spark.ShortType: 15,
    spark.IntegerType: 31,
    spark.LongType: 63,
}

# IEEE 754: every integer up to 2**n is exact where the significand has n bits.
SIGNIFICAND_BITS: dict[type[DataType], int] = {spark.FloatType: 24, spark.DoubleType: 53}

_DATETIMES = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)

# A date is a midnight, in the session's time zone for timestamp. The other conversions lose the
# time of day, or an hour that a change of daylight saving time repeats or skips.
_EXACT_DATETIMES = {
    (spark.DateType, spark.TimestampType),
    (spark.DateType, spark.TimestampNTZType),
}

# Spark 4.0 and newer.
_VARIANT = (spark.VariantType,) if hasattr(spark, "VariantType") else ()

# Casting these to a string and back gives the value again. A binary value that is not UTF-8 does
# not survive it, nor does a timestamp in the hour that daylight saving time repeats, and a
# variant becomes its JSON text.
_EXACT_AS_STRING = (
    *INTEGER_BITS,
    *SIGNIFICAND_BITS,
    spark.DecimalType,
    spark.BooleanType,
    spark.DateType,
    spark.TimestampNTZType,
)
_LOSSY_AS_STRING = (spark.BinaryType, spark.TimestampType, *_VARIANT)


def storage(source: DataType, column: DataType) -> Storage:
    """Tell what becomes of the values of one type in a column of another.

    Args:
        source: the type of the values written.
        column: the type of the column they are written to.

    Returns:
        ``EXACT`` where every value of ``source`` reads back as it was; ``LOSSY`` where the engine
        takes the write and some value is changed or refused while it runs; ``IMPOSSIBLE`` where
        the engine refuses the write whatever its values are. Types that are unknown here are
        ``IMPOSSIBLE``, unless they are equal.

    Source:
        Spark's ANSI store assignment rules,
        https://spark.apache.org/docs/latest/sql-ref-ansi-compliance.html#store-assignment;
        tests/conformance writes boundary values of every pair.
    """
    if source == column or isinstance(source, spark.NullType):
        return Storage.EXACT
    if isinstance(source, spark.NumericType) and isinstance(column, spark.NumericType):
        return Storage.EXACT if _holds_numbers(column, source) else Storage.LOSSY
    if isinstance(column, spark.StringType):
        return _as_string(source)
    if isinstance(source, _DATETIMES) and isinstance(column, _DATETIMES):
        exact = (type(source), type(column)) in _EXACT_DATETIMES
        return Storage.EXACT if exact else Storage.LOSSY
    return Storage.IMPOSSIBLE


def _as_string(source: DataType) -> Storage:
    # Strings that differ in collation, or are char or varchar, hold the same characters.
    if isinstance(source, (spark.StringType, spark.CharType, spark.VarcharType)):
        return Storage.EXACT
    if isinstance(source, _EXACT_AS_STRING):
        return Storage.EXACT
    return Storage.LOSSY if isinstance(source, _LOSSY_AS_STRING) else Storage.IMPOSSIBLE


def _holds_numbers(column: DataType, source: DataType) -> bool:
    if isinstance(source, spark.DecimalType):
        return _holds_decimal(column, source)
    if type(source) in INTEGER_BITS:
        return _holds_integers(column, 2 ** INTEGER_BITS[type(source)])
    return SIGNIFICAND_BITS.get(type(column), 0) >= SIGNIFICAND_BITS[type(source)]


def _holds_decimal(column: DataType, source: spark.DecimalType) -> bool:
    if isinstance(column, spark.DecimalType):
        enough_digits = column.precision - column.scale >= source.precision - source.scale
        return bool(enough_digits and column.scale >= source.scale)
    # No power of ten below one is a sum of powers of two: only whole numbers can be exact.
    return source.scale == 0 and _holds_integers(column, int(10**source.precision) - 1)


def _holds_integers(column: DataType, largest: int) -> bool:
    """Tell whether the column holds every integer from ``-largest`` to ``largest - 1``."""
    if isinstance(column, spark.DecimalType):
        return largest < int(10 ** (column.precision - column.scale))
    if type(column) in INTEGER_BITS:
        return largest <= 1 << INTEGER_BITS[type(column)]
    return largest <= 1 << SIGNIFICAND_BITS[type(column)]
