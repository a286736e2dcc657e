"""Measure how long it takes to remove the table feature, compared with Delta's own command."""

import itertools
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.processes import apart_in_work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check, contents
from benchmarks.workspace import OUR_TARGET
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

FILES, STALE = 40, 4
ROWS_A_FILE, ROWS_A_FILE_QUICK = 800_000, 1_000
SHAPES = {
    "a column": ("n smallint", "n", "cast(id % 100 as {0})"),
    "an array's element": ("n array<smallint>", "n.element", "array(cast(id % 100 as {0}))"),
}
# For an element, Delta's command rewrites nothing, so there is no aim.
AIMS = {"a column": 1.0}
OURS, DELTAS = "`drop_type_widening`", "`DROP FEATURE`"
METHOD = f"""\
The table has {FILES} files, about 2 GB. {STALE} of the files are older than the widening. Each
program runs on a separate shallow clone, in the same Spark session, with dbt-deltawiden's settings.
The time of `drop_type_widening` includes the start of dbt, but not the start of Spark.

If an array's element was widened, Delta's command does not rewrite the old files
([maintenance](maintenance.md)), so it does less work."""


def make_table(spark: SparkSession, name: str, shape: str, rows: int) -> None:
    """Create a table in which only the first files have the old type.

    Args:
        spark: the session.
        shape: a key of ``SHAPES``: the column or element that is widened.
        rows: the number of rows of a file.
    """
    column, path, value = SHAPES[shape]
    spark.sql(
        f"create table {name} (id bigint, payload string, {column}) using delta "
        "tblproperties ('delta.enableTypeWidening' = 'true')"
    )
    insert(spark, name, range(STALE), value.format("smallint"), rows)
    spark.sql(f"alter table {name} alter column {path} type int")
    insert(spark, name, range(STALE, FILES), value.format("int"), rows)
    (detail,) = spark.sql(f"describe detail {name}").collect()
    check(f"the number of files of {name}", detail.numFiles, FILES)


def insert(spark: SparkSession, name: str, files: range, value: str, rows: int) -> None:
    """Append files with new rows."""
    ids = f"range({files.start * rows}, {files.stop * rows}, 1, {len(files)})"
    spark.sql(
        f"insert into {name} select id, concat(sha1(string(id)), sha1(string(-id))), {value} "
        f"from {ids}"
    )


def ours(spark: SparkSession, table: str) -> None:
    arguments = f"{{relations: [{table}], truncate_history: false}}"
    result = dbtRunner().invoke(
        ["--quiet", "run-operation", "drop_type_widening", "--args", arguments]
    )
    check(f"dbt's exit code for {table}", result.success, True)


def deltas(spark: SparkSession, table: str) -> None:
    spark.sql(f"alter table {table} drop feature typeWidening")


class Drops:
    """Removes the feature from clones of one table.

    Args:
        spark: the session.
        base: the table.
    """

    def __init__(self, spark: SparkSession, base: str) -> None:
        self._spark = spark
        self._base = base
        self._wanted = contents(spark, base)
        self._copies: Iterator[str] = (f"{base}_{number}" for number in itertools.count())

    def run(self, program: Callable[[SparkSession, str], None]) -> Measures:
        """Remove the feature from a clone.

        Returns:
            The seconds of the removal.

        Raises:
            WrongResult: the clone still has the feature, or a row has changed.
        """
        copy = next(self._copies)
        self._spark.sql(f"create table {copy} shallow clone {self._base}")
        start = time.perf_counter()
        program(self._spark, copy)
        seconds = time.perf_counter() - start
        (detail,) = self._spark.sql(f"describe detail {copy}").collect()
        check(f"the feature of {copy}", "typeWidening" in detail.tableFeatures, False)
        check(copy, contents(self._spark, copy), self._wanted)
        self._spark.sql(f"drop table {copy}")
        return {"seconds": seconds}


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        Our operation, compared with Delta's command, for each shape.

    Raises:
        WrongResult: a table has wrong contents.
    """
    return apart_in_work_folder(compared, quick)


def compared(quick: bool) -> list[Comparison]:
    """Run the benchmark in a process that may start Spark and works in an empty folder."""
    profile = {"bench": {"target": "dev", "outputs": {"dev": {**OUR_TARGET, "schema": "dropping"}}}}
    Path("profiles.yml").write_text(json.dumps(profile))
    Path("dbt_project.yml").write_text("{name: bench, profile: bench}")
    spark = get_session(SparkStart.read({}))
    spark.sql("create schema dropping")
    comparisons = []
    for number, shape in enumerate(SHAPES):
        base = f"dropping.base_{number}"
        make_table(spark, base, shape, ROWS_A_FILE_QUICK if quick else ROWS_A_FILE)
        drops = Drops(spark, base)
        programs = {OURS: partial(drops.run, ours), DELTAS: partial(drops.run, deltas)}
        taken = in_turns(programs, Rounds.of(quick))
        samples = (Sample(name, measures["seconds"]) for name, measures in taken.items())
        work = f"removing the feature after {shape} was widened"
        comparisons.append(Comparison(work, *samples, aim=AIMS.get(shape)))
    return comparisons


BENCHMARK = Benchmark("dropping", METHOD, measure)
