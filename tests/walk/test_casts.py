"""The oracle of the repairs knows what Spark's casts and the type changes of a run do."""

import math
from datetime import date, datetime
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from tests.literals import literal
from tests.walk.casts import alike, converted, is_cast, value_with_name, widened, with_name
from tests.walk.examples import AB, BIGINT, DAY, DOUBLE, FLOAT, INT, MONEY, NTZ, TEXT
from tests.walk.values import values_of

WIDE = spark_types.DecimalType(12, 4)
NESTED = StructType([StructField("items", ArrayType(AB)), StructField("parts", MapType(TEXT, AB))])
# From the model's type to the one of the column.
CAST = [
    (spark_types.DecimalType(38, 18), MONEY),
    (MONEY, spark_types.DecimalType(38, 18)),
    (WIDE, spark_types.DecimalType(4, 1)),
    (DOUBLE, FLOAT),
    (FLOAT, DOUBLE),
    (NTZ, DAY),
    (DAY, NTZ),
    (BIGINT, INT),
    (INT, BIGINT),
    (MONEY, INT),
]


@pytest.mark.parametrize(("source", "column"), CAST, ids=str)
def test_casts_are_those_of_spark(spark: SparkSession, source, column):
    values = values_of(source)
    selected = [
        f"try_cast({literal(value, source)} as {column.simpleString()}) as c{number}"
        for number, value in enumerate(values)
    ]
    (row,) = spark.sql(f"select {', '.join(selected)}").collect()
    for value, kept in zip(values, row, strict=True):
        assert alike(converted(value, source, column), column, kept, column), value


def test_fields_are_matched_by_name_and_new_ones_are_null():
    table = StructType([StructField("fc", TEXT), StructField("fb", BIGINT)])
    assert converted({"fa": 1, "fb": 2}, AB, table) == {"fc": None, "fb": 2}
    assert converted([None], ArrayType(AB), ArrayType(table)) == [None]


@pytest.mark.parametrize(
    ("table", "model", "becomes"),
    [
        (INT, BIGINT, BIGINT),
        (BIGINT, INT, BIGINT),
        (FLOAT, DOUBLE, DOUBLE),
        (DAY, NTZ, NTZ),
        (MONEY, spark_types.DecimalType(10, 4), WIDE),
        (INT, MONEY, None),
        (spark_types.DecimalType(38, 18), spark_types.DecimalType(38, 10), None),
        (ArrayType(INT), ArrayType(BIGINT), ArrayType(BIGINT)),
        (ArrayType(INT), INT, None),
        (StructType(AB.fields[:1]), AB, AB),
        (AB, StructType(AB.fields[1:]), AB),
        (MapType(TEXT, MONEY), MapType(TEXT, WIDE), MapType(TEXT, WIDE)),
    ],
)
def test_a_column_becomes_what_docs_decisions_says(table, model, becomes):
    assert widened(table, model) == becomes


def test_a_renamed_field_keeps_its_value_in_each_element():
    path = ("items", "element", "fa")
    row = {"items": [{"fa": 1, "fb": 2}, None], "parts": [("k", {"fa": 3, "fb": 4})]}
    assert value_with_name(row, NESTED, path, "fz")["items"] == [{"fz": 1, "fb": 2}, None]
    renamed = with_name(NESTED, ("parts", "value", "fb"), "fy")
    assert renamed.simpleString().endswith("parts:map<string,struct<fa:int,fy:int>>>")
    parts = value_with_name(row, NESTED, ("parts", "value", "fb"), "fy")["parts"]
    assert parts == [("k", {"fa": 3, "fy": 4})]


def test_a_cast_explains_what_it_does_and_nothing_else():
    def explains(value, source, stored, column, *earlier):
        return is_cast(value, source, stored, column, {(): earlier}, ())

    assert explains(Decimal("1.2367"), WIDE, Decimal("1.24"), MONEY)
    assert not explains(Decimal("1.2367"), WIDE, Decimal("1.23"), MONEY)
    assert explains(Decimal("1.2367"), WIDE, Decimal("1.2400"), WIDE, MONEY)
    assert not explains(Decimal("1.2367"), WIDE, Decimal("1.2400"), WIDE)
    assert explains(1e300, DOUBLE, math.inf, FLOAT)
    assert explains(datetime(2024, 1, 2, 10), NTZ, date(2024, 1, 2), DAY)
    assert not explains(None, WIDE, Decimal(0), MONEY)
    pairs = ArrayType(WIDE), ArrayType(MONEY)
    assert explains([Decimal("1.2367"), None], pairs[0], [Decimal("1.24"), None], pairs[1])
    assert not explains([Decimal("1.2367")], pairs[0], [Decimal("1.24"), None], pairs[1])
