"""What removing the table feature costs, against Delta's own command and against a new table.

The table has 40 files, 1 in 10 of which is older than the widening, and at least 2 GB.

python -m benchmarks.dropping
"""

import statistics
import tempfile
import time
from collections.abc import Callable

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from benchmarks.project import project, spark_parameters
from dbt.adapters.deltawiden.session import get_session

FILES, STALE = 40, 4
ROWS_A_FILE = 800_000
ROUNDS = 3
SHAPES = {
    "a column": ("n smallint", "n", "cast(id % 100 as {0})"),
    "an array's element": ("n array<smallint>", "n.element", "array(cast(id % 100 as {0}))"),
}


def make_table(spark: SparkSession, name: str, shape: str) -> int:
    """Create a table of which only the first files hold the old type; give its size in bytes."""
    column, path, value = SHAPES[shape]
    spark.sql(
        f"create table {name} (id bigint, payload string, {column}) using delta "
        "tblproperties ('delta.enableTypeWidening' = 'true')"
    )
    insert(spark, name, 0, STALE, value.format("smallint"))
    spark.sql(f"alter table {name} alter column {path} type int")
    insert(spark, name, STALE, FILES, value.format("int"))
    detail = spark.sql(f"describe detail {name}").collect()[0]
    assert detail.numFiles == FILES, detail.numFiles
    return int(detail.sizeInBytes)


def insert(spark: SparkSession, name: str, first: int, end: int, value: str) -> None:
    rows = f"range({first * ROWS_A_FILE}, {end * ROWS_A_FILE}, 1, {end - first})"
    spark.sql(
        f"insert into {name} select id, concat(sha1(string(id)), sha1(string(-id))), {value} "
        f"from {rows}"
    )


def ours(spark: SparkSession, table: str) -> None:
    arguments = f"{{relations: [{table}], truncate_history: false}}"
    result = dbtRunner().invoke(
        ["--quiet", "run-operation", "drop_type_widening", "--args", arguments]
    )
    assert result.success, result.exception


def deltas(spark: SparkSession, table: str) -> None:
    spark.sql(f"alter table {table} drop feature typeWidening")


def replaced(spark: SparkSession, table: str) -> None:
    spark.sql(f"create or replace table {table} using delta as select * from {table}")


PROGRAMS: dict[str, Callable[[SparkSession, str], None]] = {
    "drop_type_widening": ours,
    "DROP FEATURE": deltas,
    "CREATE OR REPLACE TABLE AS": replaced,
}


def measure(spark: SparkSession, base: str) -> dict[str, float]:
    """Run each program on a copy of its own, in turns; give the median of its seconds."""
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for number in range(ROUNDS):
        for name, program in PROGRAMS.items():
            copy = f"dropping.copy_{number}"
            spark.sql(f"create table {copy} shallow clone {base}")
            start = time.perf_counter()
            program(spark, copy)
            times[name].append(time.perf_counter() - start)
            spark.sql(f"drop table {copy}")
    return {name: statistics.median(each) for name, each in times.items()}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, project(folder, "dropping"):
        spark = get_session(spark_parameters(folder))
        spark.sql("create schema dropping")
        print("| stale in 1 file of 10 | size | program | seconds | ours / this |")
        print("|---|---|---|---|---|")
        for number, shape in enumerate(SHAPES):
            size = make_table(spark, f"dropping.base_{number}", shape)
            seconds = measure(spark, f"dropping.base_{number}")
            for name, each in seconds.items():
                ratio = seconds["drop_type_widening"] / each
                print(f"| {shape} | {size / 1e9:.2f} GB | {name} | {each:.1f} | {ratio:.2f} |")
        spark.stop()


if __name__ == "__main__":
    main()
