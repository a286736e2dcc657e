"""Measure `rewrite_widened_files` of a large table, compared with Delta's `OPTIMIZE`."""

import json
from functools import partial
from pathlib import Path

from benchmarks import large_tables
from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.large_tables import MEASURED, PROGRAM, ROWS, Size, measures, memory
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import Contents, check, contents
from benchmarks.workspace import SCHEMA, ProcessRun, Run, Workspace
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

TABLE = f"{SCHEMA}.lines"
NARROW, WIDE = "decimal(8, 2)", "decimal(12, 2)"
OPTIMIZE = "`OPTIMIZE`"
ARGUMENTS = {
    "rewrite_widened_files": {"relations": [TABLE], "output": "json"},
    "drop_type_widening": {"relations": [TABLE], "truncate_history": False, "output": "json"},
}
STATES = {"rewrite_widened_files": "rewritten", "drop_type_widening": "dropped"}
REWRITE, _ = ARGUMENTS
METHOD = f"""\
The table has {ROWS:,} rows with `id`, `quantity` and `price`. All of its files are older than the
widening of `price` from `{NARROW}` to `{WIDE}`. Both programs rewrite all files.
`OPTIMIZE` runs without dbt, with the same Spark settings, and makes larger files, of 128 MB
(`spark.databricks.delta.optimize.maxFileSize`). With the default of 1 GB, one task would write the
whole table. `drop_type_widening` rewrites the files, too, and then removes the table feature.

{large_tables.METHOD}"""


def make_table(size: Size) -> Contents:
    """Create the table, and return its expected contents after a run."""
    spark = get_session(SparkStart.read({}))
    spark.sql(f"create schema {SCHEMA}")
    spark.sql(
        f"create table {TABLE} using delta tblproperties ('delta.enableTypeWidening' = 'true') "
        f"as {size.rows_sql(NARROW)}"
    )
    spark.sql(f"alter table {TABLE} alter column price type {WIDE}")
    return contents(spark, TABLE)


class Lines:
    """The table, in one size.

    Args:
        folder: the folder for it.
    """

    def __init__(self, folder: Path, size: Size) -> None:
        self._size = size
        self._runs: list[Run] = []
        self._workspace = Workspace(folder, {})
        self._wanted: Contents = self._workspace.build(make_table, size)

    def run(self, operation: str) -> Measures:
        """Run an operation once.

        Raises:
            RunFailed: dbt failed.
            WrongResult: a file is left, or a row has changed.
        """
        command = ["--quiet", "run-operation", operation]
        arguments = json.dumps(ARGUMENTS[operation])
        run = self._workspace.run(PROGRAM, *command, "--args", arguments, tables=[TABLE])
        self._runs.append(run)
        (table,) = run.document["tables"]
        check(f"the result of {operation}", table["state"], STATES[operation])
        return self._measures(run, table["stale_files"])

    def optimize(self) -> Measures:
        """Run Delta's statement once, with the Spark of the last operation. As ``run``."""
        run = self._workspace.run_script(self._runs[-1], [TABLE], f"optimize {TABLE}")
        removed = run.document["metrics"]["numFilesRemoved"]
        # It joins files, so one that no other fits to stays as it is.
        alone = 1 if removed == self._size.files - 1 else 0
        return self._measures(run, removed + alone)

    def _measures(self, run: ProcessRun, rewritten: int) -> Measures:
        check("the number of files that were rewritten", rewritten, self._size.files)
        check(TABLE, run.contents[TABLE], self._wanted)
        return measures(run)


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The operation, compared with Delta's statement, and the memory of both operations, compared
        with that for fewer rows.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    sizes = Size.both(quick)
    with work_folder() as folder:
        lines = {size.name: Lines(folder / f"lines_{size.rows}", size) for size in sizes}
        large = sizes[0].name
        programs = {
            f"{operation}, {name}": partial(lines[name].run, operation)
            for operation in ARGUMENTS
            for name in lines
        }
        programs[OPTIMIZE] = lines[large].optimize
        taken = in_turns(programs, Rounds.of(quick, MEASURED))
    return [
        Comparison(
            f"rewriting the older files of {large}",
            Sample(f"`{REWRITE}`", taken[f"{REWRITE}, {large}"]["whole"]),
            Sample(OPTIMIZE, taken[OPTIMIZE]["whole"]),
            aim=1.1,
        ),
        *(
            memory(
                f"`{operation}`",
                sizes,
                *(taken[f"{operation}, {name}"]["memory"] for name in lines),
            )
            for operation in ARGUMENTS
        ),
    ]


BENCHMARK = Benchmark("rewriting", METHOD, measure)
