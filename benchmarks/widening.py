"""Measure a run that widens a column, for tables of different sizes and with a full refresh."""

import shutil
from functools import partial
from pathlib import Path

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.processes import BENCH, work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import Contents, check, contents
from benchmarks.workspace import OUR_TARGET, OURS, SCHEMA, Program, Workspace
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

FULL = {"1 M rows": 1_000_000, "10 M rows": 10_000_000, "50 M rows": 50_000_000}
QUICK = {"10 k rows": 10_000, "20 k rows": 20_000, "40 k rows": 40_000}
ROWS_A_FILE, MOST_ROWS_IN_A_SMALL_FILE = 500_000, 2_500
NEW_ROWS, NEW_ROWS_QUICK = 1_000, 10
FIRST_DAY, DAYS = "1992-01-01", 2_500
ROOM = 30e9  # bytes: the tables of 50 M rows, their source, and the files of a full refresh

REFRESH = "--full-refresh"
METHOD = f"""\
An incremental model (`append`, `append_new_columns`) selects from a source with {NEW_ROWS:,} new
rows. The key of the source was an `int` and is now a `bigint`. The tables have the sixteen columns
of TPC-H's `lineitem`, with {ROWS_A_FILE:,} rows in a file. They are restored before every run. Each
run is a separate process with a new Spark.

The time of the plan and the ALTER is the time of `WritePlanner.plan` and of the function
`run_before_write`, with all their queries to Delta. It does not include reading the
table's schema, which happens while the model's view is created.

For the comparison with `--full-refresh`, the seconds are the execution time of the model in
`run_results.json`. They do not include the start, which is the same for both. The incremental run
takes as long as a new Spark needs for its first statements, whatever the size of the table. The
time of a full refresh grows with the bytes of the table. The ratio is therefore higher for a
narrower or shorter table."""

MODEL = f"""\
{{{{ config(materialized='incremental', incremental_strategy='append', file_format='delta',
    on_schema_change='append_new_columns', type_widening=true) }}}}
select * from {SCHEMA}.source
{{% if is_incremental() %}} where ship_date >= date_add(date '{FIRST_DAY}', {DAYS}) {{% endif %}}
"""
TABLE = f"{SCHEMA}.lines"
PROGRAM = Program(OURS, OUR_TARGET)


def rows_sql(key: str, old: int, end: int, files: int) -> str:
    """Return a query for rows. The rows after the old ones have the last day and larger keys."""
    return f"""
        select cast(id div 4 + if(id < {old}, 0, 5000000000) as {key}) as order_key,
            pmod(hash(id), 200000) as part_key,
            pmod(hash(id, 1), 10000) as supplier_key,
            cast(id % 4 as int) as line_number,
            cast(1 + pmod(hash(id, 2), 50) as decimal(15, 2)) as quantity,
            cast(900 + pmod(hash(id, 3), 10000000) / 100 as decimal(15, 2)) as extended_price,
            cast(pmod(hash(id, 4), 11) / 100 as decimal(15, 2)) as discount,
            cast(pmod(hash(id, 5), 9) / 100 as decimal(15, 2)) as tax,
            elt(1 + pmod(hash(id, 6), 3), 'A', 'N', 'R') as return_flag,
            elt(1 + pmod(hash(id, 7), 2), 'F', 'O') as line_status,
            date_add(date '{FIRST_DAY}', cast(id * {DAYS} div {old} as int)) as ship_date,
            date_add(date '{FIRST_DAY}', pmod(hash(id, 8), {DAYS})) as commit_date,
            date_add(date '{FIRST_DAY}', pmod(hash(id, 9), {DAYS})) as receipt_date,
            elt(1 + pmod(hash(id, 10), 4),
                'COLLECT COD', 'DELIVER IN PERSON', 'NONE', 'TAKE BACK RETURN') as instructions,
            elt(1 + pmod(hash(id, 11), 7),
                'AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK') as ship_mode,
            left(sha2(string(id), 256), 10 + pmod(hash(id, 12), 34)) as comment
        from range(0, {end}, 1, {files})"""


def make_tables(rows: int, new: int, files: int) -> Contents:
    """Create the model's source, and its table with the narrower key of an earlier source.

    Returns:
        The expected contents of the table after a run.
    """
    spark = get_session(SparkStart.read({}))
    spark.sql(f"create schema {SCHEMA}")
    for name, key, end in (("source", "bigint", rows + new), ("lines", "int", rows)):
        spark.sql(
            f"create table {SCHEMA}.{name} using delta "
            "tblproperties ('delta.enableTypeWidening' = 'true') "
            f"as {rows_sql(key, rows, end, files)}"
        )
    (detail,) = spark.sql(f"describe detail {TABLE}").collect()
    check("the number of the table's files", detail.numFiles, files)
    return contents(spark, f"{SCHEMA}.source")


class Lines:
    """The model and its tables, in one size.

    Args:
        folder: the folder for them.
        rows: the number of rows of the table.
        quick: whether the run only tests the code.
    """

    def __init__(self, folder: Path, rows: int, quick: bool) -> None:
        new = NEW_ROWS_QUICK if quick else NEW_ROWS
        files = rows // (MOST_ROWS_IN_A_SMALL_FILE if quick else ROWS_A_FILE)
        self._workspace = Workspace(folder, {"lines": MODEL})
        self._wanted: Contents = self._workspace.build(make_tables, rows, new, files)

    def run(self, *options: str) -> Measures:
        """Run the model once, and compare its table with its source.

        Args:
            options: options for dbt.

        Returns:
            The seconds of the plan and the ALTER together, and of the model.

        Raises:
            RunFailed: dbt failed.
            WrongResult: the table does not have the rows and types of the source, or it was not
                widened in place.
        """
        run = self._workspace.run(PROGRAM, "run", *options, tables=[TABLE])
        check("the table after the run", run.contents[TABLE], self._wanted)
        alters = [text for text, _ in run.statements if "alter column" in text]
        check("the number of ALTERs", len(alters), 0 if options else 1)
        return {"change": sum(run.calls.values()), "model": run.models["lines"]}


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The plan and the ALTER, compared with those of the smallest table, and the run, compared
        with a full refresh.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
        NoRoom: the disk does not have enough space.
    """
    sizes = QUICK if quick else FULL
    smallest, *_, largest = sizes
    with work_folder() as folder:
        need_room(folder, 0 if quick else ROOM)
        lines = {name: Lines(folder / f"rows_{rows}", rows, quick) for name, rows in sizes.items()}
        programs = {name: size.run for name, size in lines.items()}
        programs[REFRESH] = partial(lines[largest].run, REFRESH)
        taken = in_turns(programs, Rounds.of(quick))
    first = Sample(smallest, taken[smallest]["change"])
    return [
        *(
            Comparison(
                "a widening: plan and ALTER", Sample(name, taken[name]["change"]), first, 1.2
            )
            for name in sizes
            if name != smallest
        ),
        Comparison(
            f"a widening incremental run, {largest}",
            Sample("incremental run", taken[largest]["model"]),
            Sample(f"`{REFRESH}`", taken[REFRESH]["model"]),
            aim=0.1,
        ),
    ]


class NoRoom(Exception):
    """The disk does not have enough space."""


def need_room(folder: Path, needed: float) -> None:
    """Check that the disk has enough space.

    Args:
        folder: a folder on the disk.
        needed: the number of bytes that are needed.

    Raises:
        NoRoom: the disk has less space.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NoRoom(
            f"The tables need {needed / 1e9:.0f} GB on the disk of {BENCH}, "
            f"but only {free / 1e9:.0f} GB are free."
        )


BENCHMARK = Benchmark("widening", METHOD, measure)
