"""Measure a merge that checks the values of a column, and the same merge without the check."""

from pathlib import Path

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import Contents, check, contents
from benchmarks.workspace import OUR_TARGET, OURS, SCHEMA, Program, Workspace
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

ROWS, ROWS_QUICK = 1_000_000, 10_000
FILES = 4
TABLE = f"{SCHEMA}.orders"
PROGRAM = Program(OURS, OUR_TARGET)
CHECKED, UNCHECKED = "on_lossy_write: error", "on_lossy_write: ignore"
ACTIONS = {CHECKED: "error", UNCHECKED: "ignore"}
METHOD = f"""\
An incremental model (`merge`, `on_schema_change: ignore`) merges {ROWS:,} rows into a Delta table
of {ROWS:,} rows. Half of the model's rows update a row and half are inserted. One of the eight
columns is a `bigint` in the model and an `int` in the table, and every value fits. With
`on_lossy_write: error` the MERGE checks each of these values. With `ignore` it does not.

The table is restored before every run, and each run is a separate process. The seconds are the
execution time of the model in `run_results.json`."""


def model(action: str) -> str:
    return f"""\
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
    on_lossy_write='{action}') }}}}
select * from {SCHEMA}.source
"""


def rows_sql(first: int, rows: int, quantity: str) -> str:
    """Return a query for a number of rows, with IDs that start at the first one."""
    return f"""
        select id, cast(pmod(hash(id), 1000000) as {quantity}) as quantity,
            pmod(hash(id, 1), 10000) as supplier,
            cast(pmod(hash(id, 2), 10000000) / 100 as decimal(12, 2)) as price,
            elt(1 + pmod(hash(id, 3), 3), 'A', 'N', 'R') as flag,
            date_add(date '2020-01-01', pmod(hash(id, 4), 1000)) as day,
            cast(pmod(hash(id, 5), 100) as double) as share,
            left(sha2(string(id), 256), 24) as comment
        from range({first}, {first + rows}, 1, {FILES})"""


def make_tables(rows: int) -> Contents:
    """Create the model's source and its table.

    Returns:
        The expected contents of the table after a run.
    """
    spark = get_session(SparkStart.read({}))
    spark.sql(f"create schema {SCHEMA}")
    spark.sql(f"create table {TABLE} using delta as {rows_sql(0, rows, 'int')}")
    source = rows_sql(rows // 2, rows, "bigint")
    spark.sql(f"create table {SCHEMA}.source using delta as {source}")
    return contents(spark, f"({rows_sql(0, rows + rows // 2, 'int')})")


class Orders:
    """The model and its tables, with one setting.

    Args:
        folder: the folder for them.
        action: the model's ``on_lossy_write``.
        rows: the number of rows of the table.
    """

    def __init__(self, folder: Path, action: str, rows: int) -> None:
        self._is_checked = action == "error"
        self._workspace = Workspace(folder, {"orders": model(action)})
        self._wanted: Contents = self._workspace.build(make_tables, rows)

    def run(self) -> Measures:
        """Run the model once, and compare its table with the expected contents.

        Returns:
            The seconds of the model.

        Raises:
            RunFailed: dbt failed.
            WrongResult: the table is wrong, or the statement is not the one to be measured.
        """
        run = self._workspace.run(PROGRAM, "run", tables=[TABLE])
        check("the table after the run", run.contents[TABLE], self._wanted)
        checks = any("raise_error" in text for text, _ in run.statements)
        check("whether values were checked", checks, self._is_checked)
        return {"model": run.models["orders"]}


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The model with the check, compared with the same model without it.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    rows = ROWS_QUICK if quick else ROWS
    with work_folder() as folder:
        orders = {
            name: Orders(folder / f"checking_{action}", action, rows)
            for name, action in ACTIONS.items()
        }
        taken = in_turns({name: model.run for name, model in orders.items()}, Rounds.of(quick))
    checked, unchecked = (
        Sample(f"`{name}`", taken[name]["model"]) for name in (CHECKED, UNCHECKED)
    )
    return [Comparison(f"a merge of {rows:,} rows, one column checked", checked, unchecked, 1.1)]


BENCHMARK = Benchmark("checking", METHOD, measure)
