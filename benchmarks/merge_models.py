"""Incremental models that merge into tables whose types do not change."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.spark import Contents, check, contents
from benchmarks.workspace import SCHEMA, ProcessRun, Program, Run, Workspace
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart


@dataclass(frozen=True)
class Size:
    """The size of a benchmark with merges.

    Attributes:
        models: the number of models in a run.
        rows: the number of rows of each table. The merge updates a tenth of them, and inserts as
            many new rows.
        files: the number of files of each table.
    """

    models: int
    rows: int
    files: int = 4

    @classmethod
    def of(cls, quick: bool) -> "Size":
        return cls(3, 1_000) if quick else cls(20, 10_000)

    @property
    def names(self) -> list[str]:
        return [f"m{number:03}" for number in range(self.models)]


def rows_sql(note: str, first: int, end: int, files: int) -> str:
    """Return a query for the rows of a range of IDs."""
    return f"""
        select id, cast(id % 7 as int) as kind, cast(id * 0.25 as decimal(12, 2)) as amount,
            concat('{note} ', id) as note, date_add(date '2026-01-01', cast(id % 365 as int)) as day
        from range({first}, {end}, 1, {files})"""


def merged(size: Size) -> tuple[int, int]:
    """Return the first ID of the merged rows, and the ID after the last one."""
    return size.rows - size.rows // 10, size.rows + size.rows // 10


def model_sql(size: Size) -> str:
    return (
        "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id', "
        f"file_format='delta') }}}}\n{rows_sql('new', *merged(size), files=2)}"
    )


def make_tables(size: Size) -> Contents:
    """Create the target tables of the merges.

    Returns:
        The expected contents of each table after the merge.
    """
    spark = get_session(SparkStart.read({}))
    spark.sql(f"create schema {SCHEMA}")
    for name in size.names:
        rows = rows_sql("old", 0, size.rows, size.files)
        spark.sql(f"create table {SCHEMA}.{name} using delta as {rows}")
        (detail,) = spark.sql(f"describe detail {SCHEMA}.{name}").collect()
        check(f"the number of files of {name}", detail.numFiles, size.files)
    first, end = merged(size)
    kept, merged_rows = rows_sql("old", 0, first, 1), rows_sql("new", first, end, 1)
    return contents(spark, f"({kept} union all {merged_rows})")


class Merges:
    """The models in a workspace.

    Args:
        folder: the folder of the workspace.
        size: the number of models and rows.
    """

    def __init__(self, folder: Path, size: Size) -> None:
        self._size = size
        self._workspace = Workspace(folder, dict.fromkeys(size.names, model_sql(size)))
        self._wanted: Contents = self._workspace.build(make_tables, size)

    def run(self, program: Program, *options: str) -> Run:
        """Run the merges once, and compare the tables with the expected contents.

        Args:
            program: the adapter.
            options: options for dbt.

        Returns:
            The measurements.

        Raises:
            RunFailed: dbt failed.
            WrongResult: a table has other rows or types than expected.
        """
        run = self._workspace.run(program, "run", *options, tables=self._tables)
        self._check(run, program.name)
        return run

    def run_script(self, recorded: Run) -> ProcessRun:
        """Run the statements of a run with PySpark alone. As ``run``."""
        run = self._workspace.run_script(recorded, self._tables)
        self._check(run, "a script")
        return run

    @property
    def _tables(self) -> list[str]:
        return [f"{SCHEMA}.{name}" for name in self._size.names]

    def _check(self, run: ProcessRun, program: str) -> None:
        for table, found in run.contents.items():
            check(f"{table} after a merge by {program}", found, self._wanted)


def merge_seconds(run: Run) -> dict[str, float]:
    """Return the seconds of the MERGE of each model of a run."""
    merges = {_model(text): seconds for text, seconds in run.statements if is_merge(text)}
    check("the models that have merged", sorted(merges), sorted(run.models))
    return merges


def is_merge(statement: str) -> bool:
    """Return whether a statement is a MERGE. The statement can begin with comments."""
    comment = r"/\*.*?\*/|--[^\n]*"
    return re.match(rf"(\s|{comment})*merge\s+into\s", statement, re.DOTALL | re.I) is not None


def _model(statement: str) -> str:
    """Read the name of a statement's model from the comment that dbt adds to the statement."""
    match = re.search(r'"node_id": "model\.\w+\.(\w+)"', statement)
    return match.group(1) if match else ""


def outside_merge(run: Run) -> list[float]:
    """Return the seconds of each model of a run, without those of its MERGE."""
    merges = merge_seconds(run)
    return [seconds - merges[name] for name, seconds in run.models.items()]


# Settings that have another value in every process.
_VOLATILE = ("spark.app.", "spark.driver.port", "spark.driver.appUIAddress")
# Settings of the jars. The jars are the same, but one adapter resolved them at an earlier start.
_JARS = (
    "spark.jars",
    "spark.driver.extraClassPath",
    "spark.files",
    "spark.submit.pyFiles",
    "spark.repl.local.jars",
)


def lasting(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a session that can be the same in two processes."""
    return {key: value for key, value in settings.items() if not key.startswith(_VOLATILE + _JARS)}
