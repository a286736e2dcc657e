"""The oracle accepts exact values and no value that is almost exact."""

import math
from datetime import date, datetime
from decimal import Decimal

import pytest
from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from tests.walk.exact import always_exact, midnight, same
from tests.walk.examples import AB, BA, BIGINT, DAY, DOUBLE, FLOAT, INT, MONEY, NTZ, TEXT, TIMESTAMP

NARROW = spark.DecimalType(3, 1)
NAMES = MapType(INT, TEXT)
LONG_NAMES = MapType(BIGINT, TEXT)
WITH_MORE = StructType([*AB.fields, StructField("fc", TEXT)])
PAIR = {"fa": 11, "fb": 22}
COLLIDING = [(4294967297, "a"), (1, "b")]

EXACT = [
    (0.5, DOUBLE, Decimal("0.5"), NARROW),
    (math.nan, DOUBLE, math.nan, FLOAT),
    (0.10000000149011612, FLOAT, 0.10000000149011612, DOUBLE),
    (7.0, DOUBLE, 7, INT),
    (date(1582, 10, 10), DAY, datetime(1582, 10, 10), NTZ),
    (date(2024, 7, 1), DAY, 1719806400000000, TIMESTAMP),
    ("7", TEXT, 7, INT),
    (7, INT, "7", TEXT),
    (PAIR, BA, PAIR, AB),
    (PAIR, AB, {**PAIR, "fc": None}, WITH_MORE),
    ([None, 1], ArrayType(BIGINT), [None, 1], ArrayType(INT)),
    ([(1, "a"), (2, None)], LONG_NAMES, [(2, None), (1, "a")], NAMES),
    (None, BIGINT, None, INT),
]
CHANGED = [
    (0.1, DOUBLE, Decimal("0.1"), NARROW),
    (0.1, DOUBLE, 0.10000000149011612, FLOAT),
    (Decimal("0.1"), MONEY, 0.1, DOUBLE),
    (-0.0, DOUBLE, 0.0, FLOAT),
    (math.inf, DOUBLE, math.nan, FLOAT),
    (7.9, DOUBLE, 7, INT),
    (True, spark.BooleanType(), 1, INT),
    (date(2024, 7, 1), DAY, 1719792000000000, TIMESTAMP),
    (datetime(2024, 1, 1), NTZ, 1704085200000000, TIMESTAMP),
    ("007", TEXT, 7, INT),
    ("0.50", TEXT, Decimal("0.5"), NARROW),
    ("ab", TEXT, "ab   ", spark.CharType(5)),
    ("ab ", TEXT, "ab", spark.VarcharType(5)),
    (b"a", spark.BinaryType(), "a", TEXT),
    ({"fb": 22, "fa": 11}, BA, {"fa": 22, "fb": 11}, AB),
    ({**PAIR, "fc": "x"}, WITH_MORE, PAIR, AB),
    (PAIR, AB, {**PAIR, "fc": "x"}, WITH_MORE),
    (None, AB, {"fa": None, "fb": None}, AB),
    ([], ArrayType(INT), None, ArrayType(INT)),
    ([(1, "x"), (1, "y")], LONG_NAMES, [(1, "y")], NAMES),
    (None, BIGINT, 0, INT),
    (5, INT, None, INT),
]


@pytest.mark.parametrize(("value", "source", "stored", "column"), EXACT)
def test_an_exact_value_is_accepted(value, source, stored, column):
    assert same(value, source, stored, column)


@pytest.mark.parametrize(("value", "source", "stored", "column"), CHANGED)
def test_a_changed_value_is_not_accepted(value, source, stored, column):
    assert not same(value, source, stored, column)


def test_an_accepted_loss_is_allowed_only_if_the_types_can_lose_values():
    source = StructType([StructField("fa", BIGINT), StructField("fb", BIGINT)])
    column = StructType([StructField("fa", INT), StructField("fb", BIGINT)])
    assert same({"fa": 5, "fb": 6}, source, {"fa": 4, "fb": 6}, column, lossy=True)
    assert not same({"fa": 5, "fb": 6}, source, {"fa": 5, "fb": 4}, column, lossy=True)
    assert same(COLLIDING, LONG_NAMES, [(1, "b")], NAMES, lossy=True)


@pytest.mark.parametrize(
    ("source", "column", "exact"),
    [
        (INT, DOUBLE, True),
        (INT, FLOAT, False),
        (BIGINT, DOUBLE, False),
        (INT, spark.DecimalType(10, 0), True),
        (INT, spark.DecimalType(10, 1), False),
        (MONEY, spark.DecimalType(12, 4), True),
        (MONEY, spark.DecimalType(12, 5), False),
        (MONEY, DOUBLE, False),
        (TEXT, spark.VarcharType(5), False),
        (DAY, TIMESTAMP, True),
        (NTZ, TIMESTAMP, False),
        (TIMESTAMP, TEXT, False),
        (BA, AB, False),
        (AB, BA, True),
        (AB, WITH_MORE, False),
        (spark.NullType(), AB, True),
    ],
)
def test_the_types_alone_make_these_writes_exact(source, column, exact):
    assert always_exact(source, column) is exact


def test_midnight_is_in_the_session_time_zone():
    assert midnight(date(2024, 1, 1)) == 1704085200000000
    # Local mean time, four hours, 56 minutes and two seconds behind.
    assert midnight(date(1582, 10, 15)) % 86_400_000_000 == (4 * 3600 + 56 * 60 + 2) * 1_000_000
