"""The condition on a partition's value is true only for values that are read as written."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import pytest
from pyspark.sql import Row, SparkSession
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
BEFORE_THE_YEAR_1 = ["timestamp'0000-12-31 12:00:00'", "timestamp'-0044-03-15 01:02:03'"]
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


def test_tells_what_delta_stores(spark: SparkSession, schema: str, engine: Engine):
    values = {
        scalar: [literal(value, scalar) for value in values_of(scalar)]
        + MORE.get(scalar.simpleString(), [])
        for scalar in SCALARS
    }
    values[parse_type("timestamp")] += [*BEFORE_THE_YEAR_1, "timestamp'0001-01-02 00:00:00'"]
    lost = lost_values(spark, f"{schema}.t", "delta", values, engine)
    before_the_year_1 = lost["timestamp"].intersection(BEFORE_THE_YEAR_1)
    assert before_the_year_1 == (set() if engine.delta < (4, 1) else set(BEFORE_THE_YEAR_1))
    assert {name: set(LOST[name]) - lost[name] for name in LOST} == {name: set() for name in LOST}


def test_tells_what_parquet_stores(spark: SparkSession, schema: str, engine: Engine):
    # The metastore stores each partition, and Derby stores only UTF-8.
    wanted = {name: [value for value in LOST[name] if "cast(X" not in value] for name in LOST}
    values = {parse_type(name): [*wanted[name], *OTHERS[name]] for name in LOST}
    lost = lost_values(spark, f"{schema}.p", "parquet", values, engine)
    assert lost == {name: set(lossy) for name, lossy in wanted.items()}


def test_tells_what_is_shifted_in_another_time_zone_than_javas(spark, schema: str, engine: Engine):
    values = ["timestamp'2024-07-01 12:00:00 UTC'", "timestamp'2024-01-01 12:00:00 UTC'"]
    with settings_of(spark, {"spark.sql.session.timeZone": "Europe/London"}):
        moments = {parse_type("timestamp"): values}
        lost = lost_values(spark, f"{schema}.z", "delta", moments, engine)
    assert lost == {"timestamp": set(values) if engine.delta < (4, 1) else set()}


def lost_values(
    spark: SparkSession,
    table: str,
    file_format: str,
    values: Mapping[DataType, list[str]],
    engine: Engine,
) -> dict[str, set[str]]:
    """Write each value to a partition column of its type, and return the values that are lost."""
    columns = {f"p{number}": scalar for number, scalar in enumerate(values)}
    rows = as_rows([*values.values()])
    found = written_and_judged(spark, table, file_format, columns, rows, engine)
    lost: dict[str, set[str]] = {scalar.simpleString(): set() for scalar in values}
    wrong = []
    for row, result in zip(rows, found, strict=True):
        verdicts = zip(values, row, result[::2], result[1::2], strict=True)
        for scalar, value, kept, stored in verdicts:
            if kept != stored:
                wrong.append(f"{value} in {scalar.simpleString()}: kept {kept}, stored {stored}")
            if not kept:
                lost[scalar.simpleString()].add(value)
    assert wrong == []
    return lost


def as_rows(values: Sequence[list[str]]) -> list[tuple[str, ...]]:
    """Return rows with the values of all columns. Those of a shorter column are repeated."""
    rows = zip(*map(itertools.cycle, values), strict=True)
    return list(itertools.islice(rows, max(map(len, values))))


def written_and_judged(
    spark: SparkSession,
    table: str,
    file_format: str,
    columns: Mapping[str, DataType],
    rows: Sequence[tuple[str, ...]],
    engine: Engine,
) -> list[Row]:
    """Write rows. Return whether each value is read as written, and the result of its condition."""
    names = ", ".join(columns)
    written = ", ".join(f"({number}, {', '.join(row)})" for number, row in enumerate(rows))
    source = f"values {written} as v (id, {names})"
    types = ", ".join(f"{name} {scalar.simpleString()}" for name, scalar in columns.items())
    # Each row has a folder of its own: Spark fails if two values have the same one.
    partitions = f"id, {names}"
    spark.sql(
        f"create table {table} (n int, id int, {types}) using {file_format} "
        f"partitioned by ({partitions})"
    )
    spark.sql(f"insert into {table} select id, {partitions} from {source}")
    judged = ", ".join(
        f"t.{name} <=> w.{name}, "
        f"{stored_condition(f'w.{name}', scalar, shifts_moments(engine.delta)) or 'true'}"
        for name, scalar in columns.items()
    )
    return spark.sql(
        f"select {judged} from (select * from {source}) w join {table} t using (id) order by id"
    ).collect()
