"""``exactness`` against the engine: boundary values of every type, written and read back."""

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, DayTimeIntervalType, YearMonthIntervalType

from dbt.adapters.deltawiden.widening.exactness import Storage, storage
from dbt.adapters.deltawiden.widening.types import parse_type
from tests.conformance.types import BOUNDARIES, STORED

INTERVALS: dict[str, DataType] = {
    "interval day to second": DayTimeIntervalType(),
    "interval year to month": YearMonthIntervalType(),
}


# A checkpoint every ten commits, the default, would take most of the test's time.
NO_CHECKPOINTS = "tblproperties ('delta.checkpointInterval' = '10000')"


# Text that differs where values do. A time stamp's own text depends on the session's time zone.
SHOWN_AS = {"timestamp": "unix_micros({})", "binary": "hex({})", "variant": "to_json({})"}


def spark_type(text: str) -> DataType:
    return INTERVALS[text] if text in INTERVALS else parse_type(text)


def values_of(source: str) -> str:
    """Select a type's boundary values, each with its number."""
    return " union all ".join(
        f"select '{source}' as source, {number} as n, cast({value} as {source}) as v"
        for number, value in enumerate(BOUNDARIES[source])
    )


def observed(spark: SparkSession, table: str, source: str) -> Storage:
    """Write a type's boundary values to the table, and read them back as that type."""
    values = values_of(source)
    try:
        spark.sql(f"insert into {table} {values}")
    except AnalysisException:
        return Storage.IMPOSSIBLE
    except (PySparkException, Py4JJavaError):
        return Storage.LOSSY
    shown = SHOWN_AS.get(source, "string({})")
    back = "v" if source == "void" else f"cast(v as {source})"
    stored = spark.sql(
        f"select n, {shown.format(back)} from {table} where source = '{source}'"
    ).collect()
    written = spark.sql(f"select n, {shown.format('v')} from ({values})").collect()
    return Storage.EXACT if sorted(stored) == sorted(written) else Storage.LOSSY


@pytest.fixture(scope="module")
def schema(spark: SparkSession):
    spark.sql("create schema if not exists conformance")
    yield "conformance"
    spark.sql("drop schema conformance cascade")


def test_exactness_and_engine_agree_on_every_pair(spark: SparkSession, schema: str):
    disagreements, seen = [], []
    for number, column in enumerate(STORED):
        table = f"{schema}.storage_{number}"
        spark.sql(
            f"create table {table} (source string, n int, v {column}) using delta {NO_CHECKPOINTS}"
        )
        for source in BOUNDARIES:
            found = observed(spark, table, source)
            expected = storage(spark_type(source), spark_type(column))
            seen.append(found)
            if found is not expected:
                disagreements.append(f"{source} in {column}: engine {found}, ours {expected}")
    assert disagreements == [], "\n".join(disagreements)
    assert set(seen) == set(Storage)
    print(f"{len(seen)} pairs, 0 disagreements")
