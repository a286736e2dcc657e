"""Random types and values, mostly at the boundaries of a type."""

import math
import struct
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

INTEGERS = (spark.ByteType(), spark.ShortType(), spark.IntegerType(), spark.LongType())
FLOATS = (spark.FloatType(), spark.DoubleType())
BITS = dict(zip(map(type, INTEGERS), (7, 15, 31, 63), strict=True))
TEXTS = (spark.StringType, spark.VarcharType, spark.CharType)

# Few types, so that pairs of them are frequent. The decimals have each kind of difference.
SCALARS: tuple[DataType, ...] = (
    *INTEGERS,
    *FLOATS,
    *(
        spark.DecimalType(*digits)
        for digits in ((3, 1), (10, 0), (10, 2), (12, 4), (38, 0), (38, 18))
    ),
    spark.StringType(),
    spark.BinaryType(),
    spark.BooleanType(),
    spark.DateType(),
    spark.TimestampType(),
    spark.TimestampNTZType(),
)
# Only a CREATE TABLE statement has these types. A query's output has no such type.
LIMITED = (spark.VarcharType(5), spark.CharType(5))

STRINGS = (
    *("", "a", "abc", "ab ", "  ab", "x" * 20, "größe", "\U0001f642\u0301", 'it\'s \\ "q"\n'),
    *("7", "007", "+7", " 7", "0.5", "0.50", "7.9", "1e3", "NaN", "99999999999999999999"),
    *("true", "TRUE", "yes", "2024-01-01", "2024-1-1", "2024-01-01 10:11:12", "2024-13-45"),
)
DATES = (
    *(date(1, 1, 1), date(1582, 10, 4), date(1582, 10, 10), date(1582, 10, 15)),
    *(date(1970, 1, 1), date(2024, 3, 10), date(2024, 11, 3), date(9999, 12, 31)),
)
# New York had no 02:30 on 10 March 2024, and 01:30 twice on 3 November.
DATETIMES = (
    *(datetime(1, 1, 1), datetime(1582, 10, 10, 12), datetime(1883, 11, 18, 12, 1)),
    *(datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2024, 1, 1)),
    *(datetime(2024, 3, 10, 2, 30), datetime(2024, 11, 3, 1, 30)),
    *(datetime(2024, 1, 1, 10, 11, 12, 123456), datetime(9999, 12, 31, 23, 59, 59, 999999)),
)
# Microseconds since 1970: year 2, 1582, around 1970, both 01:30 and either side of the gap, 9999.
TIMESTAMPS = (
    *(-62104060800000000, -12219250000000001, -1, 0, 1704103872123456, 1704085200000000),
    *(1710055799999999, 1710055800000000, 1730611800000000, 1730615400000000, 253402214400000000),
)
DOUBLES = (
    *(0.0, -0.0, 0.5, 0.1, 7.0, 7.9, -1.0, 1.123456789012, 2.0**53, 2.0**63, 1e38, 1e-7),
    *(5e-324, 1.7976931348623157e308, math.nan, math.inf, -math.inf),
)
FLOATS_OF_32_BITS = (
    *(0.0, -0.0, 0.5, 0.1, 0.7, 1.1, 7.0, -1.0, 16777216.0, 2.0**63, 1e-7),
    *(1.401298464324817e-45, 3.4028234663852886e38, math.nan, math.inf, -math.inf),
)


def as_float(value: float) -> float:
    """Return the nearest number of 32 bits."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def random_scalar(rng: Random) -> DataType:
    return rng.choice(SCALARS)


def random_type(rng: Random, depth: int = 2) -> DataType:
    """Draw a type, nested up to a depth."""
    if depth == 0 or rng.random() < 0.6:
        return random_scalar(rng)
    inside = [random_type(rng, depth - 1) for _ in range(3)]
    shape = rng.choice(("struct", "struct", "array", "map"))
    if shape == "array":
        return ArrayType(inside[0])
    if shape == "map":
        return MapType(random_scalar(rng), inside[0])
    names = rng.sample(("fa", "fb", "fc", "fd"), rng.choice((1, 2, 2, 3)))
    return StructType([StructField(*field) for field in zip(names, inside, strict=False)])


def random_value(rng: Random, data_type: DataType, nulls: float = 0.15) -> Any:
    """Draw a value of a type; ``tests.literals`` describes the representation of values."""
    if isinstance(data_type, spark.NullType) or rng.random() < nulls:
        return None
    if isinstance(data_type, StructType):
        return {f.name: random_value(rng, f.dataType) for f in data_type.fields}
    if isinstance(data_type, ArrayType):
        return [random_value(rng, data_type.elementType) for _ in range(rng.choice((0, 1, 2)))]
    if isinstance(data_type, MapType):
        return _random_entries(rng, data_type)
    return rng.choice(values_of(data_type))


def _random_entries(rng: Random, data_type: MapType) -> list[tuple[Any, Any]]:
    keys = [random_value(rng, data_type.keyType, nulls=0) for _ in range(rng.choice((0, 1, 2, 3)))]
    # To Spark -0.0 and 0.0 are the same key. It stores 0.0.
    keys = [0.0 if isinstance(key, float) and key == 0 else key for key in keys]
    distinct = {repr(key): key for key in keys}.values()
    return [(key, random_value(rng, data_type.valueType)) for key in distinct]


def _shorter(length: int) -> tuple[str, ...]:
    return tuple(text for text in STRINGS if len(text) <= length)


def values_of(data_type: DataType) -> tuple[Any, ...]:
    """List the values that a column of an atomic type is tried with."""
    if type(data_type) in BITS:
        bits = BITS[type(data_type)]
        some = (0, 1, -1, 7, 100, 300, 70_000, 5_000_000_000, 2**53 + 1, 2**24 + 1)
        return (*(n for n in some if n < 2**bits), -(2**bits), 2**bits - 1)
    if isinstance(data_type, spark.DecimalType):
        return _decimals(data_type)
    if isinstance(data_type, spark.FloatType):
        return tuple(map(as_float, FLOATS_OF_32_BITS))
    if isinstance(data_type, spark.CharType):
        return tuple(text.ljust(data_type.length) for text in _shorter(data_type.length))
    if isinstance(data_type, spark.VarcharType):
        return _shorter(data_type.length)
    return {
        spark.DoubleType: DOUBLES,
        spark.StringType: STRINGS,
        spark.BinaryType: (b"", b"a", b"\xff\xfe", "größe".encode()),
        spark.BooleanType: (True, False),
        spark.DateType: DATES,
        spark.TimestampType: TIMESTAMPS,
        spark.TimestampNTZType: DATETIMES,
    }[type(data_type)]


def _decimals(data_type: spark.DecimalType) -> tuple[Decimal, ...]:
    one = Decimal((0, (1,), -data_type.scale))
    most = Decimal((0, (9,) * data_type.precision, -data_type.scale))
    some = ("0", "1", "-7", "0.5", "0.1", "1.2367", "7.9", "300", "70000", "16777217")
    fitting = (
        number
        for number in map(Decimal, some)
        if -number.as_tuple().exponent <= data_type.scale and abs(number) <= most
    )
    # Unary minus would round to 28 digits.
    return (*fitting, one, most, most.copy_negate())
