"""Measure what the settings cost that make filters on widened decimals right."""

import time
from collections.abc import Mapping
from functools import partial

from pyspark.sql import SparkSession

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.processes import apart_in_work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.settings import DECIMAL_FILTERS, LISTS_IN_FILTERS, SAFE_READS
from dbt.adapters.deltawiden.spark.start import SparkStart

ROWS, ROWS_QUICK, FILES = 50_000_000, 20_000, 25
SHARE = 100
"""One row in so many passes the filter."""
SHAPES = {
    "in no order": "",
    "each file sorted by that column": "sort by part, price",
}
OURS, SPARKS = "with our settings", "with Spark's defaults"
SPARK_DEFAULTS = {DECIMAL_FILTERS: "true", LISTS_IN_FILTERS: "10"}
METHOD = f"""\
A query reads the rows with a `price` (`decimal(12,2)`) above a value: one row in {SHARE}. The table
has {ROWS:,} rows in {FILES} files, about 5 GB. Each file has all prices, so that Delta can skip no
file. Half of the files are older than the widening of `price` from `decimal(8,2)`. The query runs
in one Spark session, with
[the settings for filters](connections.md#filters-on-widened-columns) and with Spark's defaults.

If the rows of each file are sorted by `price`, Spark's defaults read only a part of each file. With
our settings, Spark reads all rows."""


def make_table(spark: SparkSession, name: str, order: str, rows: int) -> None:
    """Create a table whose first half has files with the narrower decimal.

    Args:
        spark: the session.
        name: the table's name.
        order: a clause for the order of the rows in a file, or an empty text.
        rows: the number of rows of the table.
    """
    spark.sql(
        f"create table {name} (id bigint, price decimal(8,2), payload string) using delta "
        "tblproperties ('delta.enableTypeWidening' = 'true')"
    )
    older = FILES // 2
    insert(spark, name, order, range(older), rows, "decimal(8,2)")
    spark.sql(f"alter table {name} alter column price type decimal(12,2)")
    insert(spark, name, order, range(older, FILES), rows, "decimal(12,2)")
    (detail,) = spark.sql(f"describe detail {name}").collect()
    check(f"the number of files of {name}", detail.numFiles, FILES)


def insert(
    spark: SparkSession, name: str, order: str, files: range, rows: int, price_type: str
) -> None:
    """Append files with new rows. Each has all prices, from 0 to 9,999.99."""
    in_file = rows // FILES
    ids = f"range({files.start * in_file}, {files.stop * in_file}, 1, {len(files)})"
    spark.sql(
        f"insert into {name} select id, price, payload from (select id, id div {in_file} as part, "
        f"cast(pmod(xxhash64(id), 1000000) / 100 as {price_type}) as price, "
        f"concat(sha1(string(id)), sha1(string(-id))) as payload from {ids}) {order}"
    )


class Scans:
    """Runs the query.

    Args:
        spark: the session.
        table: the table.
    """

    def __init__(self, spark: SparkSession, table: str) -> None:
        self._spark = spark
        least = 10_000 - 10_000 // SHARE
        self._query = f"select count(*), sum(length(payload)) from {table} where price >= {least}"
        self._wanted = self._result(SAFE_READS)

    def _result(self, settings: Mapping[str, str]) -> tuple[int, int]:
        for key, value in settings.items():
            self._spark.conf.set(key, value)
        (row,) = self._spark.sql(self._query).collect()
        return tuple(row)

    def run(self, settings: Mapping[str, str]) -> Measures:
        """Run the query once.

        Args:
            settings: values for the settings of filters.

        Returns:
            The seconds of the query.

        Raises:
            WrongResult: the query does not return what it returned first.
        """
        start = time.perf_counter()
        result = self._result(settings)
        seconds = time.perf_counter() - start
        check("the result of the query", result, self._wanted)
        return {"seconds": seconds}


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The query with our settings, compared with Spark's defaults, for each shape.

    Raises:
        WrongResult: a query has a wrong result.
    """
    return apart_in_work_folder(compared, quick)


def compared(quick: bool) -> list[Comparison]:
    """Run the benchmark in a process that may start Spark and works in an empty folder."""
    spark = get_session(SparkStart.read({}))
    rows = ROWS_QUICK if quick else ROWS
    spark.sql("create schema scans")
    comparisons = []
    for number, (shape, order) in enumerate(SHAPES.items()):
        table = f"scans.t{number}"
        make_table(spark, table, order, rows)
        scans = Scans(spark, table)
        programs = {
            OURS: partial(scans.run, SAFE_READS),
            SPARKS: partial(scans.run, SPARK_DEFAULTS),
        }
        taken = in_turns(programs, Rounds.of(quick))
        samples = (Sample(name, measures["seconds"]) for name, measures in taken.items())
        work = f"a filter by a decimal on {rows:,} rows, {shape}"
        comparisons.append(Comparison(work, *samples, aim=1.1))
    return comparisons


BENCHMARK = Benchmark("filtered_scan", METHOD, measure)
