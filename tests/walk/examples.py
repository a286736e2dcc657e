"""Writes that can lose values: the columns of a table, and the values that are written."""

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType


class Example(NamedTuple):
    """A column of a table, and values that are written to it.

    Attributes:
        table: the column's type.
        has: the value that it has.
        source: the type of the values that come to it.
        fits: values that it stores exactly.
        loses: values that it does not store exactly. Each one is written separately.
    """

    table: DataType
    has: Any
    source: DataType
    fits: tuple[Any, ...] = ()
    loses: tuple[Any, ...] = ()


INT, BIGINT, TEXT = spark.IntegerType(), spark.LongType(), spark.StringType()
FLOAT, DOUBLE = spark.FloatType(), spark.DoubleType()
DAY, NTZ, TIMESTAMP = spark.DateType(), spark.TimestampNTZType(), spark.TimestampType()
MONEY = spark.DecimalType(10, 2)


def struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, data_type) for name, data_type in fields.items()])


AB = struct(fa=INT, fb=INT)
BA = struct(fb=BIGINT, fa=INT)
LARGE = 5_000_000_000

EXAMPLES: dict[str, Example] = {
    "reordered": Example(
        AB, {"fa": 1, "fb": 2}, BA, ({"fb": 22, "fa": 11}, None), ({"fb": LARGE, "fa": 11},)
    ),
    "in_array": Example(
        ArrayType(AB),
        [],
        ArrayType(BA),
        ([{"fb": 22, "fa": 11}, None], [], None, [{"fb": None, "fa": None}]),
        ([{"fb": 22, "fa": 11}, {"fb": LARGE, "fa": 1}],),
    ),
    "in_map": Example(
        MapType(TEXT, AB),
        [("k", None)],
        MapType(TEXT, BA),
        ([("k", {"fb": 22, "fa": 11}), ("l", None)], []),
        ([("k", {"fb": LARGE, "fa": 11})],),
    ),
    "keys_that_collide": Example(
        MapType(INT, TEXT),
        [(1, "a")],
        MapType(DOUBLE, TEXT),
        ([(1.0, "x"), (2.0, "y")],),
        ([(1.2, "x"), (1.7, "y")],),
    ),
    "days_that_collide": Example(
        MapType(DAY, INT),
        [],
        MapType(NTZ, INT),
        ([(datetime(2024, 1, 1), 1)],),
        ([(datetime(2024, 1, 1, 1), 1), (datetime(2024, 1, 1, 2), 2)],),
    ),
    "numbers_as_text": Example(MapType(INT, INT), [], MapType(TEXT, INT), ([("7", 1)],), ()),
    "float": Example(
        FLOAT,
        0.5,
        DOUBLE,
        (0.5, math.nan, math.inf, -math.inf, -0.0, 16777216.0, None),
        (0.1, 1e300, 5e-324),
    ),
    "float_widened": Example(DOUBLE, 0.1, FLOAT, (0.5, math.nan, 0.10000000149011612), ()),
    "decimal_of_double": Example(spark.DecimalType(3, 1), None, DOUBLE, (0.5,), (0.1, math.nan)),
    "double_of_decimal": Example(DOUBLE, None, MONEY, (Decimal("0.5"),), (Decimal("0.1"),)),
    "int_of_double": Example(INT, 1, DOUBLE, (7.0, -0.0), (7.9, 3e9, math.nan, math.inf)),
    "money": Example(
        MONEY,
        Decimal("1.25"),
        spark.DecimalType(38, 36),
        (Decimal("1.2"),),
        (Decimal("1.2367"), Decimal("-0.0000000000000000000000000001")),
    ),
    "bigint_of_decimal": Example(
        BIGINT,
        1,
        spark.DecimalType(38, 0),
        (Decimal(9223372036854775807),),
        (Decimal(9223372036854775808), Decimal("9" * 38)),
    ),
    "day": Example(
        DAY,
        date(1582, 10, 4),
        NTZ,
        (datetime(2024, 1, 2), datetime(1, 1, 1), datetime(9999, 12, 31)),
        (datetime(2024, 1, 2, 10, 11, 12), datetime(1582, 10, 10, 0, 0, 0, 1)),
    ),
    "ntz_of_day": Example(NTZ, None, DAY, (date(1, 1, 1), date(1582, 10, 10), date(9999, 12, 31))),
    "timestamp_of_day": Example(TIMESTAMP, None, DAY, (date(1582, 10, 10), date(2024, 3, 10))),
    # 02:30 did not exist in New York that day; the second is both of two moments.
    "timestamp_of_ntz": Example(
        TIMESTAMP, None, NTZ, (None,), (datetime(2024, 3, 10, 2, 30), datetime(2024, 11, 3, 1, 30))
    ),
    "ntz_of_timestamp": Example(NTZ, None, TIMESTAMP, (None,), (1730615400000000,)),
    "day_of_timestamp": Example(DAY, None, TIMESTAMP, (None,), (1704085200000000,)),
    "text_of_timestamp": Example(TEXT, None, TIMESTAMP, (None,), (1730615400000000,)),
    "int_of_text": Example(INT, 1, TEXT, ("7", "-1", None), ("007", " 7", "7.0", "abc", "", "1e3")),
    "day_of_text": Example(DAY, None, TEXT, ("2024-01-01",), ("2024-1-1", "2024-13-45")),
    "boolean_of_text": Example(spark.BooleanType(), True, TEXT, ("true",), ("TRUE", "yes", "1")),
    "boolean_of_int": Example(spark.BooleanType(), True, INT, (None,), (1, 7)),
    "int_of_boolean": Example(INT, 1, spark.BooleanType(), (None,), (True,)),
    "text_of_binary": Example(TEXT, "a", spark.BinaryType(), (None,), (b"a", b"\xff\xfe")),
    "text_of_numbers": Example(TEXT, "a", DOUBLE, (0.1, 1e300, math.nan, -0.0, 5e-324)),
    "varchar": Example(
        spark.VarcharType(5), "a", TEXT, ("größe", "ab ", "", "\U0001f642"), ("abcdef", "abcde ")
    ),
    "char": Example(spark.CharType(5), "abcde", TEXT, ("größe", None), ("ab", "abcdef", "abcde ")),
    "nothing_in_it": Example(
        struct(fa=INT, fb=TEXT),
        None,
        struct(fb=spark.NullType(), fa=BIGINT),
        ({"fb": None, "fa": 1},),
    ),
    "deep": Example(
        ArrayType(struct(fa=MapType(INT, struct(fb=MONEY)))),
        [],
        ArrayType(struct(fa=MapType(BIGINT, struct(fb=spark.DecimalType(20, 6))))),
        ([{"fa": [(1, {"fb": Decimal("1.25")})]}, None],),
        ([{"fa": [(LARGE, {"fb": Decimal("1.25")})]}], [{"fa": [(1, {"fb": Decimal("1.2501")})]}]),
    ),
}
