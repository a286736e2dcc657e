"""A dbt project and the tables it starts from, and dbt runs in it that are measured."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.processes import apart, environment
from benchmarks.spark import Contents
from dbt.adapters.deltawiden.spark.settings import start_settings

SCHEMA = "bench"
OURS, THEIRS = "dbt-deltawiden", "dbt-spark"
_EVOLUTION = "dbt.adapters.deltawiden.evolution"
_PLANNING = (
    f"{_EVOLUTION}.incremental:IncrementalWrites.plan",
    f"{_EVOLUTION}.evolution:TableEvolution.run_before_write",
)


class RunFailed(Exception):
    """A run that was to be measured has failed; the message ends with what dbt printed."""


@dataclass(frozen=True)
class Program:
    """An adapter, and how its Spark is configured.

    Attributes:
        name: what the tables call it.
        target: its output in ``profiles.yml``.
        settings: what ``spark-defaults.conf`` has.
        submit_arguments: the variable PYSPARK_SUBMIT_ARGS, where it is set.
    """

    name: str
    target: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    submit_arguments: str | None = None


# The least that each adapter accepts.
OUR_TARGET = {"type": "deltawiden", "schema": SCHEMA}
# https://docs.getdbt.com/docs/core/connect-data-platform/spark-setup, "Session"
THEIR_TARGET = {"type": "spark", "method": "session", "host": "NA", "schema": SCHEMA}


def with_the_same_spark() -> tuple[Program, Program]:
    """Give both adapters with one Spark configuration, the one that ours starts by default.

    It is in ``spark-defaults.conf``, where it costs neither of them anything at a statement. Which
    jars Delta needs is said to dbt-spark only: dbt-deltawiden sees to that itself.
    """
    settings = start_settings({}, {})
    without_jars = {key: value for key, value in settings.items() if key != "spark.jars.packages"}
    return Program(OURS, OUR_TARGET, without_jars), Program(THEIRS, THEIR_TARGET, settings)


@dataclass(frozen=True)
class Run:
    """A dbt command that was measured.

    Attributes:
        whole: the seconds from the start of the process to dbt's last line.
        to_first_model: the seconds from the start of the process to that of the first model.
        models: by model, the seconds that dbt took to execute it.
        statements: the text and the seconds of each statement, in their order.
        calls: by method of our adapter, its seconds; only what plans and runs type changes.
        settings: the settings of its Spark session.
        contents: by table, what it holds after the run.
    """

    whole: float
    to_first_model: float
    models: Mapping[str, float]
    statements: list[tuple[str, float]]
    calls: Mapping[str, float]
    settings: Mapping[str, str]
    contents: Mapping[str, Contents]


class Workspace:
    """A folder with a project, and tables that are the same before every run.

    Args:
        folder: where to make it; it need not exist.
        models: the models' SQL by name.
    """

    def __init__(self, folder: Path, models: Mapping[str, str]) -> None:
        self._folder = folder
        self._project = folder / "project"
        # The metastore has absolute paths: tables are made, copied back and used in one place.
        self._work = folder / "work"
        self._template = folder / "template"
        (self._project / "models").mkdir(parents=True)
        (self._project / "dbt_project.yml").write_text("{name: bench, profile: bench}")
        for name, sql in models.items():
            (self._project / "models" / f"{name}.sql").write_text(sql)

    def build(self, make: Callable[..., Any], *arguments: Any) -> Any:
        """Make the tables that every run starts from.

        Args:
            make: a function that makes them, by a Spark of its own, in the folder that it works in.
            arguments: what it takes.

        Returns:
            What it returns.
        """
        self._work.mkdir()
        made = apart(make, self._work, *arguments)
        self._work.rename(self._template)
        return made

    def run(self, program: Program, *arguments: str, tables: Iterable[str] = ()) -> Run:
        """Run dbt in a new process, on the tables as they were made.

        Args:
            program: the adapter.
            arguments: dbt's.
            tables: the tables whose contents to read afterwards, outside of what is measured.

        Returns:
            What was measured.

        Raises:
            RunFailed: dbt has failed.
        """
        self._reset()
        own = self._folder / program.name
        own.mkdir(exist_ok=True)
        target = own / "target"
        profile = {"bench": {"target": "dev", "outputs": {"dev": dict(program.target)}}}
        (own / "profiles.yml").write_text(json.dumps(profile))
        folders = ["--project-dir", self._project, "--profiles-dir", own, "--target-path", target]
        is_ours = program.target["type"] == OUR_TARGET["type"]
        order = {
            "arguments": [*arguments, *map(str, folders), "--log-path", str(own / "logs")],
            "tables": [*tables],
            "calls": _PLANNING if is_ours else (),
        }
        answer, started = self._ask(order, own, self._variables(program, own))
        return _run(answer, started, json.loads((target / "run_results.json").read_text()))

    def _reset(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.copytree(self._template, self._work, copy_function=_link_or_copy)

    def _variables(self, program: Program, own: Path) -> dict[str, str]:
        lines = [f"{key} {value}" for key, value in program.settings.items()]
        (own / "spark-defaults.conf").write_text("\n".join(lines))
        variables = {**environment(self._folder), "SPARK_CONF_DIR": str(own)}
        if program.submit_arguments is not None:
            variables["PYSPARK_SUBMIT_ARGS"] = program.submit_arguments
        return variables

    def _ask(
        self, order: Mapping[str, Any], own: Path, variables: Mapping[str, str]
    ) -> tuple[dict[str, Any], float]:
        """Let a child carry out an order; give its answer, and when it was started."""
        asked, answered, printed = (own / each for each in ("order.json", "answer.json", "output"))
        asked.write_text(json.dumps(order))
        command = [sys.executable, "-m", "benchmarks.child", str(asked), str(answered)]
        with printed.open("w") as output:
            started = time.time()
            ended = subprocess.run(
                command,
                cwd=self._work,
                env=variables,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if ended.returncode:
            last = printed.read_text(errors="replace").splitlines()[-40:]
            raise RunFailed("\n".join([f"{own.name} has failed:", *last]))
        return json.loads(answered.read_text()), started


def _link_or_copy(source: str, destination: str) -> None:
    """Copy a file; a Parquet file, which Delta never changes, as another name for it."""
    if source.endswith(".parquet"):
        os.link(source, destination)
    else:
        shutil.copy2(source, destination)


def _run(answer: Mapping[str, Any], started: float, results: Mapping[str, Any]) -> Run:
    timings = {
        each["unique_id"].rpartition(".")[2]: {one["name"]: one for one in each["timing"]}
        for each in results["results"]
    }
    first = min(_timestamp(each["compile"]["started_at"]) for each in timings.values())
    return Run(
        whole=answer["finished"] - started,
        to_first_model=first - started,
        models={name: _seconds(each["execute"]) for name, each in timings.items()},
        statements=[(text, seconds) for text, seconds in answer["statements"]],
        calls=answer["calls"],
        settings=answer["settings"],
        contents={name: Contents(**each) for name, each in answer["contents"].items()},
    )


def _seconds(timing: Mapping[str, str]) -> float:
    return _timestamp(timing["completed_at"]) - _timestamp(timing["started_at"])


def _timestamp(text: str) -> float:
    """Read a time of run_results.json, which is in UTC."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
