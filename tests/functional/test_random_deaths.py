"""Processes that die at random times: each table is as before or after, the next run is clean.

``--deaths`` says how many commands are killed in each of the two tests.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.functional.test_start import DBT, dbt, ended, set_profile, works_in
from tests.functional.test_start import project as project

pytestmark = pytest.mark.slow

BEFORE, AFTER = "{value: 1, type: int}", "{value: 3000000000, type: bigint}"
MODEL = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
          on_schema_change='append_new_columns', type_widening=true) }}
select id, cast({{ var('value') }} as {{ var('type') }}) as n from range(3)
"""
SEEDS = {"before": "id,n\n1,1\n", "after": "id,n\n1,2\n2,2\n"}
ROWS = {
    "t": [[(i, 1) for i in range(3)], [(i, 3_000_000_000) for i in range(3)]],
    "s": [[(1, 1)], [(1, 2), (2, 2)]],
}
DBT_PROCESS, JVM, KEEPER = "bin/dbt", "SparkSubmit", "kept.server"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)

Dbt = Callable[..., subprocess.CompletedProcess[str]]


def command(k: int) -> tuple[str, list[str]]:
    """Return the table that the k-th command changes, and the command."""
    drop = f"{{relations: [t{k}], truncate_history: true}}"
    return (
        (f"t{k}", ["run", "--select", f"t{k}", "--vars", AFTER]),
        (f"s{k}", ["seed", "--select", f"s{k}", "--vars", AFTER]),
        (f"t{k}", ["run-operation", "drop_type_widening", "--vars", AFTER, "--args", drop]),
    )[k % 3]


def victim(project: Path, program: str) -> int | None:
    """Return the process of a project that runs a program, or None if there is none now."""
    for process in Path("/proc").glob("[0-9]*"):
        if works_in(project, process):
            words = (process / "cmdline").read_bytes().decode(errors="replace")
            if program in words:
                return int(process.name)
    return None


class Deaths:
    """Kills processes of a project, and checks its tables."""

    def __init__(self, project: Path, spark: SparkSession, run: Dbt, number: int) -> None:
        self._project, self._spark, self._run, self._number = project, spark, run, number
        self._seconds = 0.0

    def prepare(self) -> None:
        for k in range(self._number):
            (self._project / "models" / f"t{k}.sql").write_text(MODEL)
        self._write_seeds("before")
        # The last command is as long as those that are killed.
        for each in (["seed"], ["run"], ["run", "--select", "t0"]):
            started = time.monotonic()
            made = self._run(*each, "--vars", BEFORE)
            self._seconds = time.monotonic() - started
            assert made.returncode == 0, made.stdout
        self._write_seeds("after")

    def _write_seeds(self, which: str) -> None:
        (self._project / "seeds").mkdir(exist_ok=True)
        for k in range(self._number):
            (self._project / "seeds" / f"s{k}.csv").write_text(SEEDS[which])

    def kill(self, k: int, program: str, number: signal.Signals, **environment: str) -> str:
        """Run the k-th command, kill one of its processes, and return what was done."""
        table, words = command(k)
        seconds = random.uniform(0, self._seconds)
        with subprocess.Popen(
            [DBT, *words],
            cwd=self._project,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        ) as process:
            end = time.monotonic() + seconds
            while time.monotonic() < end and process.poll() is None:
                time.sleep(0.1)
            pid = process.pid if program == DBT_PROCESS else victim(self._project, program)
            is_alive = pid is not None and process.poll() is None
            if pid is not None and is_alive:
                os.kill(pid, number)
            try:
                printed, _ = process.communicate(timeout=600)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        killed = f"{number.name} to {program}" if is_alive else f"{program} had ended"
        done = f"{words[0]} {table}: after {seconds:.1f} s, {killed}: {printed}"
        print(done.partition(chr(10))[0])
        # dbt itself prints its own traceback after Ctrl-C.
        assert "Traceback" not in printed or printed.rstrip().endswith("KeyboardInterrupt"), done
        assert self._rows(table) in ROWS[table[0]], done
        return done

    def _rows(self, table: str) -> list[tuple[int, int]]:
        found = self._spark.read.format("delta").load(f"{self._folder}/{table}")
        return sorted((int(row.id), int(row.n)) for row in found.collect())

    @property
    def _folder(self) -> Path:
        return next(self._project.rglob("x.db"))

    def check_the_next_run(self, done: list[str]) -> None:
        """Check that the commands, run again, make each table as it must be."""
        for words in (["seed"], ["run"]):
            again = self._run(*words, "--vars", AFTER)
            assert again.returncode == 0, "\n".join([again.stdout, *done])
        names = ", ".join(f"t{k}" for k in range(self._number))
        arguments = f"{{relations: [{names}], truncate_history: true}}"
        dropped = self._run(
            *("run-operation", "drop_type_widening", "--vars", AFTER, "--args", arguments)
        )
        assert dropped.returncode == 0, "\n".join([dropped.stdout, *done])
        for table in (f"{letter}{k}" for letter in ROWS for k in range(self._number)):
            assert self._rows(table) == ROWS[table[0]][1], done


@pytest.fixture
def number(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--deaths"))


def test_spark_inside_dbt(project: Path, spark: SparkSession, number: int):
    (project / "models" / "one.sql").unlink()
    deaths = Deaths(project, spark, lambda *words: dbt(project, *words), number)
    deaths.prepare()
    done = []
    for k in range(number):
        program = random.choice([DBT_PROCESS, DBT_PROCESS, JVM])
        done.append(deaths.kill(k, program, random.choice(SIGNALS)))
        assert ended(project), done[-1]
    deaths.check_the_next_run(done)
    assert ended(project)


@pytest.fixture
def kept(project: Path) -> dict[str, str]:
    cache = project / "cache" / "dbt-deltawiden"
    cache.mkdir(parents=True)
    for jars in Path("~/.cache/dbt-deltawiden").expanduser().glob("*.json"):
        shutil.copy(jars, cache)
    output = {"type": "deltawiden", "schema": "x", "keep_alive": "30m"}
    memory = {"spark.driver.memory": "1200m"}
    set_profile(project, {**output, "server_side_parameters": memory})
    return {"XDG_CACHE_HOME": str(cache.parent)}


def test_spark_that_is_kept_alive(
    project: Path,
    spark: SparkSession,
    number: int,
    kept: dict[str, str],
):
    (project / "models" / "one.sql").unlink()
    deaths = Deaths(project, spark, lambda *words: dbt(project, *words, **kept), number)
    deaths.prepare()
    done = []
    for k in range(number):
        program = random.choice([DBT_PROCESS, JVM, KEEPER])
        done.append(deaths.kill(k, program, random.choice(SIGNALS), **kept))
    deaths.check_the_next_run(done)
    stopped = dbt(project, "run-operation", "stop_spark", **kept)
    assert stopped.returncode == 0, stopped.stdout
    assert re.search(r"ended: process \d+", stopped.stdout)
    assert ended(project)
