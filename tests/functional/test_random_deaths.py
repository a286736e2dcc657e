"""Processes that die at random times: each table is as before or after, the next run is clean.

``--deaths`` says how many commands are killed in each of the two tests.
"""

import contextlib
import fcntl
import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.functional.test_start import DBT, dbt, ended, set_profile, works_in
from tests.functional.test_start import project as project

pytestmark = pytest.mark.slow

BEFORE, AFTER = "{value: 1, type: int}", "{value: 3000000000, type: bigint}"
# Three files, so that `optimize` has work to do.
MODEL = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
          on_schema_change='append_new_columns', type_widening=true) }}
select id, cast({{ var('value') }} as {{ var('type') }}) as n from range(0, 3, 1, 3)
"""
FLOATS = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
          type_widening=true) }}
select id, cast(0.7 as float) as n from range(3)
"""
PROMISED = """
{{ config(materialized='table') }}
select id, cast({{ var('value') }} as {{ var('type') }}) as n from range(3)
"""
# The first table of each operation is built, and the others are copies of its files.
REGISTER = """
{% macro register(tables, folder) %}
  {% for table in tables %}
    {% do run_query("create table " ~ target.schema ~ "." ~ table ~ " using delta location '"
                    ~ folder ~ "/" ~ table ~ "'") %}
  {% endfor %}
{% endmacro %}
"""
CONTRACT = """
models:
  - name: {name}
    config: {{contract: {{enforced: true}}}}
    columns:
      - {{name: id, data_type: bigint}}
      - name: n
        data_type: {type}
"""
SEEDS = {"before": "id,n\n1,1\n", "after": "id,n\n1,2\n2,2\n"}
FLOAT = 0.699999988079071
Rows = list[tuple[int, float]]
OLD: Rows = [(i, 1) for i in range(3)]
NEW: Rows = [(i, 3_000_000_000) for i in range(3)]
# Each operation has tables of its own: the letter is the first one of their names.
OPERATIONS = {
    "t": "run",
    "s": "seed",
    "d": "drop_type_widening",
    "o": "optimize",
    "f": "repair_statistics",
    "c": "sync_contracts",
}
ROWS: dict[str, list[Rows]] = {
    "t": [OLD, NEW],
    "s": [[(1, 1)], [(1, 2), (2, 2)]],
    "d": [OLD, NEW],
    "o": [OLD, NEW],
    "f": [[(i, FLOAT) for i in range(3)]],
    "c": [OLD, NEW],
}
DBT_PROCESS, JVM, KEEPER = "bin/dbt", "SparkSubmit", "keep_alive.server"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
CTRL_C = b"\x03"

Dbt = Callable[..., subprocess.CompletedProcess[str]]
Death = Callable[[Path, "subprocess.Popen[str]", int], str]


def table_of(k: int) -> str:
    """Return the table that the k-th command changes."""
    return f"{[*OPERATIONS][k % len(OPERATIONS)]}{k}"


def command(table: str) -> list[str]:
    """Return the command that changes a table."""
    operation = OPERATIONS[table[0]]
    if operation in ("run", "seed"):
        return [operation, "--select", table, "--vars", AFTER]
    return ["run-operation", operation, "--vars", AFTER, "--args", arguments(operation, [table])]


def arguments(operation: str, tables: list[str]) -> str:
    if operation == "sync_contracts":
        return json.dumps({"models": tables, "write": True})
    truncate = {"truncate_history": True} if operation == "drop_type_widening" else {}
    return json.dumps({"relations": tables, **truncate})


def victim(project: Path, program: str) -> int | None:
    """Return the process of a project that runs a program, or None if there is none now."""
    for process in Path("/proc").glob("[0-9]*"):
        if works_in(project, process):
            words = (process / "cmdline").read_bytes().decode(errors="replace")
            if program in words:
                return int(process.name)
    return None


@contextlib.contextmanager
def in_a_terminal(
    words: list[str], folder: Path, environment: dict[str, str]
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run dbt in a terminal of its own, and yield its process and what types into the terminal."""
    keyboard, terminal = pty.openpty()
    process = subprocess.Popen(
        [DBT, *words],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        text=True,
    )
    os.close(terminal)
    try:
        with process:
            yield process, keyboard
    finally:
        os.close(keyboard)


def killed(program: str, number: signal.Signals) -> Death:
    """Return a death: a signal to one program of a project."""

    def death(project: Path, process: subprocess.Popen[str], _: int) -> str:
        pid = process.pid if program == DBT_PROCESS else victim(project, program)
        if pid is None or process.poll() is not None:
            return f"{program} had ended"
        os.kill(pid, number)
        return f"{number.name} to {program}"

    return death


def interrupted(_: Path, process: subprocess.Popen[str], keyboard: int) -> str:
    """Press Ctrl-C: each process in the foreground of the terminal gets SIGINT."""
    if process.poll() is not None:
        return "dbt had ended"
    os.write(keyboard, CTRL_C)
    return "Ctrl-C"


def any_death(*programs: str) -> Death:
    """Return a random death. Ctrl-C and SIGTERM are what most users send."""
    signals = [killed(program, number) for program in programs for number in SIGNALS]
    return random.choice([interrupted, interrupted, *signals])


class Deaths:
    """Kills processes of a project, and checks its tables."""

    def __init__(self, project: Path, spark: SparkSession, run: Dbt, number: int) -> None:
        self._project, self._spark, self._run = project, spark, run
        self._tables = [table_of(k) for k in range(number)]
        self._seconds = 0.0

    def prepare(self) -> None:
        (self._project / "models" / "one.sql").unlink()
        (self._project / "seeds").mkdir()
        (self._project / "macros" / "register.sql").write_text(REGISTER)
        for table in self._of("todfc"):
            text = {"f": FLOATS, "c": PROMISED}.get(table[0], MODEL)
            (self._project / "models" / f"{table}.sql").write_text(text)
        for table in self._of("c"):
            self._contract(table).write_text(CONTRACT.format(name=table, type="int"))
        self._write_seeds("before")
        firsts = {table[0]: table for table in reversed(self._tables)}
        made = [*firsts.values()]
        self._make("seed", "--select", *made)
        self._make("run", "--select", *made)
        # The files keep the older type: the operations have work to do.
        for table in {*made} & {*self._of("df")}:
            wider = "double" if table[0] == "f" else "bigint"
            self._spark.sql(f"alter table {self._path(table)} alter column n type {wider}")
        copies = [table for table in self._tables if table not in made]
        for table in copies:
            shutil.copytree(self._folder / firsts[table[0]], self._folder / table)
        known = {"tables": copies, "folder": str(self._folder)}
        self._make("run-operation", "register", "--args", json.dumps(known))
        started = time.monotonic()
        self._make("run", "--select", self._tables[0])
        self._seconds = time.monotonic() - started
        self._write_seeds("after")

    def _make(self, *words: str) -> None:
        made = self._run(*words, "--vars", BEFORE)
        assert made.returncode == 0, made.stdout

    def _of(self, letters: str) -> list[str]:
        return [table for table in self._tables if table[0] in letters]

    def _write_seeds(self, which: str) -> None:
        for table in self._of("s"):
            (self._project / "seeds" / f"{table}.csv").write_text(SEEDS[which])

    def _contract(self, table: str) -> Path:
        return self._project / "models" / f"{table}.yml"

    def kill(self, k: int, death: Death, **environment: str) -> str:
        """Run the k-th command, let one of its processes die, and return what was done."""
        table = self._tables[k]
        seconds = random.uniform(0, self._seconds)
        with in_a_terminal(command(table), self._project, environment) as (process, terminal):
            end = time.monotonic() + seconds
            while time.monotonic() < end and process.poll() is None:
                time.sleep(0.1)
            died = death(self._project, process, terminal)
            try:
                printed, _ = process.communicate(timeout=600)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        done = f"{OPERATIONS[table[0]]} {table}: after {seconds:.1f} s, {died}: {printed}"
        print(done.partition(chr(10))[0], flush=True)
        # dbt itself prints its own traceback after Ctrl-C.
        assert all("KeyboardInterrupt" in each for each in printed.split("Traceback")[1:]), done
        self._check(table, done)
        return done

    def _check(self, table: str, done: str) -> None:
        assert self._rows(table) in ROWS[table[0]], done
        if table[0] == "c":
            both = [CONTRACT.format(name=table, type=name) for name in ("int", "bigint")]
            assert self._contract(table).read_text() in both, done
            models = {file.stem for file in (self._project / "models").iterdir()}
            assert models == {*self._of("todfc")}, done

    def _rows(self, table: str) -> Rows:
        found = self._spark.sql(f"select id, n from {self._path(table)}").collect()
        return sorted((int(row.id), row.n) for row in found)

    @property
    def _folder(self) -> Path:
        return self._project / "spark-warehouse" / "x.db"

    def _path(self, table: str) -> str:
        return f"delta.`{self._folder / table}`"

    def check_the_next_run(self, done: list[str]) -> None:
        """Check that the commands, run again, make each table as it must be."""
        for operation in ("optimize", "repair_statistics", "sync_contracts"):
            self._again(operation, done)
        for words in (["seed"], ["run"]):
            again = self._run(*words, "--vars", AFTER)
            assert again.returncode == 0, "\n".join([again.stdout, *done])
        self._again("drop_type_widening", done)
        for table in self._tables:
            assert self._rows(table) == ROWS[table[0]][-1], done
        for table in self._of("f"):
            # With wrong statistics, no file has a number that is less.
            less = self._spark.sql(f"select 1 from {self._path(table)} where n < double('0.7')")
            assert less.count() == 3, done

    def _again(self, operation: str, done: list[str]) -> None:
        (letter,) = (letter for letter, name in OPERATIONS.items() if name == operation)
        tables = self._of(letter)
        if tables:
            words = ("run-operation", operation, "--vars", AFTER)
            again = self._run(*words, "--args", arguments(operation, tables))
            assert again.returncode == 0, "\n".join([again.stdout, *done])


@pytest.fixture
def number(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--deaths"))


def test_spark_inside_dbt(project: Path, spark: SparkSession, number: int):
    deaths = Deaths(project, spark, lambda *words: dbt(project, *words), number)
    deaths.prepare()
    done = []
    for k in range(number):
        done.append(deaths.kill(k, any_death(DBT_PROCESS, JVM)))
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
    deaths = Deaths(project, spark, lambda *words: dbt(project, *words, **kept), number)
    deaths.prepare()
    done = []
    for k in range(number):
        done.append(deaths.kill(k, any_death(DBT_PROCESS, JVM, KEEPER), **kept))
    deaths.check_the_next_run(done)
    stopped = dbt(project, "run-operation", "stop_spark", **kept)
    assert stopped.returncode == 0, stopped.stdout
    assert re.search(r"ended: process \d+", stopped.stdout)
    assert ended(project)
