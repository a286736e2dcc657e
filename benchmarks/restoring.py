"""Measure `restore_values` on a large table, compared with a full refresh of its model."""

import json
from functools import partial
from pathlib import Path

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import Contents, check, contents
from benchmarks.widening import MOST_ROWS_IN_A_SMALL_FILE, ROWS_A_FILE, rows_sql
from benchmarks.workspace import OUR_TARGET, OURS, SCHEMA, Program, Workspace
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

ROWS, ROWS_QUICK = 10_000_000, 20_000
SHARE = 100
"""One row in so many has other digits in the model than in the table."""
LINES_OF_AN_ORDER = 4
NEWEST, SCATTERED = "newest", "scattered"
# The column of each model's table that has lost digits.
COLUMNS = {NEWEST: "extended_price", SCATTERED: "tax"}
STORED, PRODUCED = "decimal(15, 2)", "decimal(17, 4)"
PROGRAM = Program(OURS, OUR_TARGET)
RESTORE, REFRESH = "`restore_values`", "`--full-refresh`"
METHOD = f"""\
An incremental model (`merge`, a key of two columns) selects all of its source: {ROWS:,} rows of
TPC-H's `lineitem` as in `widening`. One column is a `{PRODUCED}` in the source and a
`{STORED}` in the table: one row in {SHARE} has lost digits. These rows are the newest
ones, which are in one file, or they are in every file. `restore_values` widens the column and then
corrects these rows.

The seconds are those of the whole command, from the start of its process to the end of the dbt
command. The table is restored before every run, and each run is a separate process with a new
Spark."""

MODEL = f"""\
{{{{ config(materialized='incremental', incremental_strategy='merge', file_format='delta',
    unique_key=['order_key', 'line_number'], type_widening=true) }}}}
select * from {SCHEMA}.source
"""


def lines_sql(rows: int, files: int, narrow: str = "") -> str:
    """Return a query for the rows of the source, or of a table with one narrower column."""
    last_orders = rows // LINES_OF_AN_ORDER * (SHARE - 1) // SHARE
    has_digits = {
        COLUMNS[NEWEST]: f"order_key >= {last_orders}",
        COLUMNS[SCATTERED]: f"order_key % {SHARE} = 0",
    }
    finer = ", ".join(
        f"cast({name} + if({condition}, 0.0025, 0) as {STORED if name == narrow else PRODUCED}) "
        f"as {name}"
        for name, condition in has_digits.items()
    )
    lines = rows_sql("bigint", rows, rows, files)
    return f"select * except ({', '.join(has_digits)}), {finer} from ({lines})"


def make_tables(rows: int, files: int) -> Contents:
    """Create the source, and each model's table as it was stored without some digits.

    Returns:
        The expected contents of each table after a run.
    """
    spark = get_session(SparkStart.read({}))
    spark.sql(f"create schema {SCHEMA}")
    for name, narrow in {"source": "", **COLUMNS}.items():
        spark.sql(f"create table {SCHEMA}.{name} using delta as {lines_sql(rows, files, narrow)}")
        (detail,) = spark.sql(f"describe detail {SCHEMA}.{name}").collect()
        check(f"the number of files of {name}", detail.numFiles, files)
    for name, column in COLUMNS.items():
        differ = spark.sql(
            f"select 1 from {SCHEMA}.source s join {SCHEMA}.{name} t "
            f"using (order_key, line_number) where s.{column} <> t.{column}"
        )
        check(f"the rows of {name} that differ", differ.count(), rows // SHARE)
    return contents(spark, f"{SCHEMA}.source")


class Lines:
    """The models and their tables.

    Args:
        folder: the folder for them.
        quick: whether the run only tests the code.
    """

    def __init__(self, folder: Path, quick: bool) -> None:
        self.rows = ROWS_QUICK if quick else ROWS
        files = self.rows // (MOST_ROWS_IN_A_SMALL_FILE if quick else ROWS_A_FILE)
        self._workspace = Workspace(folder, dict.fromkeys(COLUMNS, MODEL))
        self._wanted: Contents = self._workspace.build(make_tables, self.rows, files)

    def restore(self, model: str) -> Measures:
        """Run the operation once.

        Returns:
            The seconds of the whole command.

        Raises:
            RunFailed: dbt failed.
            WrongResult: the table does not have the rows and types of the source.
        """
        arguments = json.dumps({"models": [model]})
        return self._run(model, "run-operation", "restore_values", "--args", arguments)

    def refresh(self, model: str) -> Measures:
        """Build the model's table anew. As ``restore``."""
        return self._run(model, "run", "--full-refresh", "--select", model)

    def _run(self, model: str, *command: str) -> Measures:
        table = f"{SCHEMA}.{model}"
        run = self._workspace.run(PROGRAM, *command, tables=[table])
        check(f"{table} after {command[0]}", run.contents[table], self._wanted)
        return {"whole": run.whole}


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The operation, compared with a full refresh, for each place of the rows.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    with work_folder() as folder:
        lines = Lines(folder / "restoring", quick)
        programs = {model: partial(lines.restore, model) for model in COLUMNS}
        programs[REFRESH] = partial(lines.refresh, NEWEST)
        taken = in_turns(programs, Rounds.of(quick))
    refresh = Sample(REFRESH, taken[REFRESH]["whole"])
    works = {
        NEWEST: f"{lines.rows:,} rows, of which 1 in {SHARE} has lost digits, in the newest file",
        SCATTERED: "the same, in every file",
    }
    return [
        Comparison(work, Sample(RESTORE, taken[model]["whole"]), refresh, aim=0.5)
        for model, work in works.items()
    ]


BENCHMARK = Benchmark("restoring", METHOD, measure)
