"""Measure how long it takes until the first model starts, in a schema with many tables."""

import shutil
from functools import partial
from pathlib import Path

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from benchmarks.workspace import OURS, SCHEMA, THEIRS, Program, Workspace, with_the_same_spark
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

TABLES, TABLES_QUICK = 1_000, 20
MODEL = "{{ config(materialized='table', file_format='delta') }}\nselect 1 as id"
METHOD = f"""\
One `dbt run` of one model, in a schema that has {TABLES:,} Delta tables. The Spark settings are
those of `merges`, where only the configuration of Delta's jars differs. The seconds are from the
start of the process to the start of the model in `run_results.json`. In this time dbt lists all
relations of the schema."""


def make_tables(tables: int) -> None:
    """Create Delta tables in one schema: one is written, the others are copies of its folder."""
    spark = get_session(SparkStart.read({}))
    spark.sql(f"create schema {SCHEMA}")
    spark.sql(
        f"create table {SCHEMA}.t0000 using delta as "
        "select id, cast(id as decimal(12, 2)) as amount from range(0, 1000, 1, 2)"
    )
    (detail,) = spark.sql(f"describe detail {SCHEMA}.t0000").collect()
    first = Path(detail.location.removeprefix("file:"))
    for number in range(1, tables):
        copy = first.with_name(f"t{number:04}")
        shutil.copytree(first, copy)
        spark.sql(f"create table {SCHEMA}.{copy.name} using delta location '{copy}'")
    check("the number of tables", spark.sql(f"show tables in {SCHEMA}").count(), tables)


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The time to the first model.

    Raises:
        RunFailed: dbt failed.
        WrongResult: the model's table has wrong contents.
    """
    tables = TABLES_QUICK if quick else TABLES
    with work_folder() as folder:
        workspace = Workspace(folder / "many_tables", {"first": MODEL})
        workspace.build(make_tables, tables)
        found = set()

        def run_once(program: Program) -> Measures:
            run = workspace.run(program, "run", tables=[f"{SCHEMA}.first"])
            found.update(run.contents.values())
            check("the number of results", len(found), 1)
            return {"to first model": run.to_first_model}

        programs = {program.name: partial(run_once, program) for program in with_the_same_spark()}
        taken = in_turns(programs, Rounds.of(quick))
    return [
        Comparison(
            f"a schema of {tables:,} tables: from start to the first model",
            Sample(OURS, taken[OURS]["to first model"]),
            Sample(THEIRS, taken[THEIRS]["to first model"]),
            aim=1.0,
        )
    ]


BENCHMARK = Benchmark("many_tables", METHOD, measure)
