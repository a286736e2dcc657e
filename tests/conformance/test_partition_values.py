"""The condition on a partition's value is true only for values that are read as written."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.writing.partition_values import (
    NULL_PARTITION,
    shifts_moments,
    stored_condition,
)
from tests.literals import literal
from tests.small import SMALL, settings_of
from tests.walk.values import SCALARS, values_of

# Values besides the walk's, as SQL. Session time zone: America/New_York.
MORE = {
    "string": [
        f"'{NULL_PARTITION}'",
        f"'{NULL_PARTITION} '",
        "' '",
        "'a '",
        "'null'",
        "'a/b=c%20:d'",
        "'.'",
        "'..'",
        "char(1)",
        "char(10)",
        "cast(X'61ff' as string)",
        "cast(X'eda080' as string)",  # half of a surrogate pair
        "'\\u00e9\\u2603\\U0001d11e\\ufffd'",
    ],
    "binary": [f"cast('{NULL_PARTITION}' as binary)", "X'61'", "X'61ff'", "X'c3a9'", "X'20'"],
    "timestamp": [
        "timestamp'2024-11-03 05:30:00 UTC'",
        "timestamp'2024-11-03 06:30:00 UTC'",
        "timestamp'2024-11-03 07:00:00 UTC'",
        "timestamp'2024-03-10 07:00:00 UTC'",
        "timestamp'1883-11-18 12:03:57'",
        "timestamp'9999-12-31 23:59:59.999999'",
        "timestamp_micros(9223372036854775807)",
    ],
}
LOST = {
    "string": ["''", f"'{NULL_PARTITION}'", "cast(X'61ff' as string)", "cast(X'eda080' as string)"],
    "binary": ["X''", f"cast('{NULL_PARTITION}' as binary)", "X'61ff'"],
    "timestamp": ["timestamp'2024-11-03 06:30:00 UTC'"],
}
OTHERS = {
    "string": ["'a '"],
    "binary": ["X'61'"],
    "timestamp": ["timestamp'2024-11-03 05:30:00 UTC'"],
}


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    spark.sql("create schema if not exists partition_values")
    with settings_of(spark, SMALL):
        yield "partition_values"
    spark.sql("drop schema partition_values cascade")


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda scalar: scalar.simpleString())
def test_tells_what_delta_stores(spark: SparkSession, schema: str, engine: Engine, scalar):
    values = [literal(value, scalar) for value in values_of(scalar)]
    values += MORE.get(scalar.simpleString(), [])
    lost = lost_values(spark, f"{schema}.t", "delta", scalar, values, engine)
    assert lost >= set(LOST.get(scalar.simpleString(), []))


@pytest.mark.parametrize("name", LOST)
def test_tells_what_parquet_stores(spark: SparkSession, schema: str, engine: Engine, name: str):
    # The metastore stores each partition, and Derby stores only UTF-8.
    values = [*(value for value in LOST[name] if "cast(X" not in value), *OTHERS[name]]
    scalar = parse_type(name)
    lost = lost_values(spark, f"{schema}.p", "parquet", scalar, values, engine)
    assert lost == set(values[:-1])


def test_tells_what_is_shifted_in_another_time_zone_than_javas(spark, schema: str, engine: Engine):
    scalar = parse_type("timestamp")
    values = ["timestamp'2024-07-01 12:00:00 UTC'", "timestamp'2024-01-01 12:00:00 UTC'"]
    with settings_of(spark, {"spark.sql.session.timeZone": "Europe/London"}):
        lost = lost_values(spark, f"{schema}.z", "delta", scalar, values, engine)
    assert lost == (set(values) if engine.delta < (4, 1) else set())


def lost_values(
    spark: SparkSession,
    table: str,
    file_format: str,
    scalar: DataType,
    values: list[str],
    engine: Engine,
) -> set[str]:
    """Write each value to a separate partition. The condition must be false for lost values."""
    rows = " union all ".join(f"select {n} as id, {v} as v" for n, v in enumerate(values))
    spark.sql(
        f"create table {table} (id int, v {scalar.simpleString()}) "
        f"using {file_format} partitioned by (v)"
    )
    spark.sql(f"insert into {table} select id, v from ({rows})")
    condition = stored_condition("w.v", scalar, shifts_moments(engine.delta)) or "true"
    judged = spark.sql(
        f"select w.id, t.v <=> w.v as kept, {condition} as stored "
        f"from ({rows}) w join {table} t using (id)"
    ).collect()
    assert len(judged) == len(values)
    wrong = {values[row.id]: (row.kept, row.stored) for row in judged if row.kept != row.stored}
    assert wrong == {}
    return {values[row.id] for row in judged if not row.kept}
