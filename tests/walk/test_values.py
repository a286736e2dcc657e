"""The walk reads the values that it has written, which its checks depend on."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from tests.literals import literal
from tests.walk.exact import same
from tests.walk.stored import read_contents
from tests.walk.values import SCALARS, values_of


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda scalar: scalar.simpleString())
def test_a_value_is_read_as_it_is_written(spark: SparkSession, scalar):
    types = (scalar, StructType([StructField("fa", ArrayType(scalar))]), MapType(scalar, scalar))
    rows = [(value, {"fa": [value, None]}, [(value, value)]) for value in values_of(scalar)]
    # To Spark -0.0 and 0.0 are the same key.
    rows = [row for row in rows if repr(row[0]) != "-0.0"]
    selected = " union all ".join(
        f"select {number} as id, "
        + ", ".join(f"{literal(row[n], types[n])} as c{n}" for n in range(len(types)))
        for number, row in enumerate(rows)
    )
    spark.sql(selected).createOrReplaceTempView("walk_values")
    read = read_contents(spark, "walk_values")
    assert read.rows.keys() == set(range(len(rows)))
    for number, row in read.rows.items():
        for n, written in enumerate(rows[number]):
            assert same(written, types[n], row[f"c{n}"], types[n])
