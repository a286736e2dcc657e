"""Measure the whole `dbt run` of one small model while Spark is kept alive."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.processes import apart, environment, work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from benchmarks.workspace import (
    OUR_TARGET,
    SCHEMA,
    THEIRS,
    Program,
    RunFailed,
    with_the_same_spark,
)
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

KEPT, DUCKDB = "dbt-deltawiden, `keep_alive`", "dbt-duckdb"
MODEL = """\
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
    file_format='delta') }}
select cast(1 as int) as id, cast(1.25 as decimal(12, 2)) as amount, '{{ invocation_id }}' as run
"""
TABLE = f"{SCHEMA}.small"
METHOD = """\
`dbt run` of one incremental model (`merge`), which updates the only row of its table. The seconds
are those of the whole command, from the start of the process to its end. dbt parses the project in
the first run only.

dbt-deltawiden has `keep_alive: 15m`: its Spark runs already. The Spark of dbt-spark starts in each
run, with the settings of `merges`. dbt-duckdb runs the same model in a database file."""


class Small:
    """The model in a project of its own.

    Args:
        folder: the folder of the project, which does not exist.
        program: the adapter.
    """

    def __init__(self, folder: Path, program: Program) -> None:
        self._folder, self._invocation = folder, ""
        self._work = folder / "work"
        for path in (folder / "models", self._work):
            path.mkdir(parents=True)
        (folder / "dbt_project.yml").write_text("{name: bench, profile: bench}")
        (folder / "models" / "small.sql").write_text(MODEL)
        profile = {"bench": {"target": "dev", "outputs": {"dev": dict(program.target)}}}
        (folder / "profiles.yml").write_text(json.dumps(profile))
        lines = [f"{key} {value}" for key, value in program.settings.items()]
        (folder / "spark-defaults.conf").write_text("\n".join(lines))
        self._variables = {**environment(folder), "SPARK_CONF_DIR": str(folder)}

    def run(self) -> Measures:
        """Run the model once.

        Returns:
            The seconds of the whole command.

        Raises:
            RunFailed: dbt failed.
        """
        start = time.perf_counter()
        self.dbt("run")
        whole = time.perf_counter() - start
        results = json.loads((self._folder / "target" / "run_results.json").read_text())
        self._invocation = results["metadata"]["invocation_id"]
        return {"whole": whole}

    def dbt(self, *arguments: str) -> None:
        """Run a command of dbt.

        Raises:
            RunFailed: dbt failed.
        """
        folders = ["--project-dir", str(self._folder), "--profiles-dir", str(self._folder)]
        ended = subprocess.run(
            [str(Path(sys.executable).with_name("dbt")), *arguments, *folders],
            cwd=self._work,
            env=self._variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if ended.returncode:
            raise RunFailed("\n".join(ended.stdout.splitlines()[-40:]))

    def check(self, read: Callable[[Path], list[tuple[object, ...]]]) -> None:
        """Compare the table with the last `dbt run`.

        Args:
            read: reads the rows of the table in the folder that dbt ran in.

        Raises:
            WrongResult: the table has other rows.
        """
        found = [(id, str(amount), run) for id, amount, run in read(self._work)]
        check(f"the rows of {TABLE}", found, [(1, "1.25", self._invocation)])


def rows_of_spark(work: Path) -> list[tuple[object, ...]]:
    return apart(_rows, work)


def _rows() -> list[tuple[object, ...]]:
    return [tuple(row) for row in get_session(SparkStart.read({})).table(TABLE).collect()]


def rows_of_duckdb(work: Path) -> list[tuple[object, ...]]:
    with duckdb.connect(str(work / "small.duckdb"), read_only=True) as connection:
        return connection.sql(f"from {TABLE}").fetchall()


def programs() -> Mapping[str, Program]:
    """Return the adapters by their names in the results."""
    ours, theirs = with_the_same_spark()
    return {
        KEPT: Program(KEPT, {**OUR_TARGET, "keep_alive": "15m"}, ours.settings),
        THEIRS: theirs,
        DUCKDB: Program(DUCKDB, {"type": "duckdb", "schema": SCHEMA, "path": "small.duckdb"}),
    }


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to run one round only, to test the code.

    Returns:
        The whole command, compared with both other adapters.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    with work_folder() as folder:
        models = {
            name: Small(folder / f"small_{number}", program)
            for number, (name, program) in enumerate(programs().items())
        }
        try:
            for model in models.values():
                model.run()  # It creates the table, and starts the Spark that is kept alive.
            taken = in_turns({name: model.run for name, model in models.items()}, Rounds.of(quick))
        finally:
            models[KEPT].dbt("run-operation", "stop_spark")
        for name, model in models.items():
            model.check(rows_of_duckdb if name == DUCKDB else rows_of_spark)
    samples = {name: Sample(name, measured["whole"]) for name, measured in taken.items()}
    return [
        Comparison(
            "one small incremental model, Spark kept alive: the whole `dbt run`",
            samples[KEPT],
            samples[THEIRS],
            aim=0.15,
        ),
        Comparison("the same", samples[KEPT], samples[DUCKDB], aim=2),
    ]


BENCHMARK = Benchmark("kept_alive", METHOD, measure)
