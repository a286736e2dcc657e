"""Measure how much CPU time `dbt parse` takes, and check that it starts no Java."""

import os
from functools import partial
from pathlib import Path

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.spark import check
from benchmarks.workspace import OUR_TARGET, OURS, THEIR_TARGET, THEIRS, Program, Workspace

MODELS, MODELS_QUICK = 500, 20
CONFIG = """\
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
    file_format='delta') }}
"""
PROGRAMS = (Program(OURS, OUR_TARGET), Program(THEIRS, THEIR_TARGET))
METHOD = f"""\
`dbt parse --no-partial-parse` of a project with {MODELS} incremental models, which read each other.
It has no YAML file. The seconds are the CPU time, user and system, of the process and of all
processes that it starts: dbt waits for nothing here. No Spark is configured.

In every run, `JAVA_HOME` and `PATH` have a `java` that only reports that it was called. The
benchmark stops with an error if `dbt parse`, or `dbt ls`, which runs once before, has started it.
Both adapters load PySpark's modules to read the profile."""


def models(number: int) -> dict[str, str]:
    """Return the SQL of models by name: each model after the first reads an earlier one."""
    first = "select id, cast(id % 7 as int) as kind from range(10)"
    read = {
        f"m{each:03}": f"select * from {{{{ ref('m{each // 2:03}') }}}}" for each in range(number)
    }
    return {name: CONFIG + sql for name, sql in {**read, "m000": first}.items()}


class FakeJava:
    """A program `java` that notes that it was called, and fails.

    Args:
        folder: the folder for it, which does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._called = folder / "called"
        java = folder / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(f"#!/bin/sh\necho \"$@\" >> '{self._called}'\nexit 1\n")
        java.chmod(0o755)
        path = os.pathsep.join([str(java.parent), os.environ["PATH"]])
        self.variables = {"JAVA_HOME": str(folder), "PATH": path}

    @property
    def calls(self) -> list[str]:
        """The arguments of each call."""
        return self._called.read_text().splitlines() if self._called.exists() else []


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The CPU time of `dbt parse`.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a command has started Java, or a model was not parsed.
    """
    number = MODELS_QUICK if quick else MODELS
    with work_folder() as folder:
        workspace = Workspace(folder / "parsing", models(number))
        java = FakeJava(folder / "java")

        def run_once(program: Program, *command: str) -> Measures:
            seconds = workspace.cpu_seconds(program, *command, variables=java.variables)
            check(f"what {command[0]} of {program.name} called Java for", java.calls, [])
            nodes = workspace.artifact(program, "manifest")["nodes"]
            check(f"the models that {program.name} has parsed", len(nodes), number)
            return {"cpu": seconds}

        for program in PROGRAMS:
            run_once(program, "ls")
        parse = {
            program.name: partial(run_once, program, "parse", "--no-partial-parse")
            for program in PROGRAMS
        }
        taken = in_turns(parse, Rounds.of(quick))
    ours, theirs = (Sample(name, taken[name]["cpu"]) for name in (OURS, THEIRS))
    return [Comparison(f"`dbt parse` of {number} models: CPU time", ours, theirs, aim=1.05)]


BENCHMARK = Benchmark("parsing", METHOD, measure)
