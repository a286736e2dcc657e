"""Create a dbt project and its tables, and measure dbt runs in it."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.processes import apart, environment
from benchmarks.spark import Contents
from dbt.adapters.deltawiden.credentials import DeltaWidenCredentials
from dbt.adapters.deltawiden.spark.start import SparkStart

SCHEMA = "bench"
OURS, THEIRS = "dbt-deltawiden", "dbt-spark"
PLANNING = (
    "dbt.adapters.deltawiden.writes.write_planner:WritePlanner.plan",
    "dbt.adapters.deltawiden.writes.run_steps.run_before_write",
)


class RunFailed(Exception):
    """A measured run failed. The message ends with the output of dbt."""


@dataclass(frozen=True)
class Program:
    """An adapter, and the configuration of its Spark.

    Attributes:
        name: its name in the results.
        target: its output in ``profiles.yml``.
        settings: the settings in ``spark-defaults.conf``.
        submit_arguments: the value of the variable PYSPARK_SUBMIT_ARGS, or None.
    """

    name: str
    target: Mapping[str, str | int]
    settings: Mapping[str, str] = field(default_factory=dict)
    submit_arguments: str | None = None


# The smallest profile that the adapter accepts.
OUR_TARGET = {"type": "deltawiden", "schema": SCHEMA}
# https://docs.getdbt.com/docs/core/connect-data-platform/spark-setup, "Session"
THEIR_TARGET = {"type": "spark", "method": "session", "host": "NA", "schema": SCHEMA}


def with_the_same_spark() -> tuple[Program, Program]:
    """Return both adapters with the same Spark settings, the defaults of dbt-deltawiden.

    The settings are in ``spark-defaults.conf``, so that no adapter has to set them when it runs a
    statement. Only dbt-spark gets the setting for Delta's jars: dbt-deltawiden adds the jars
    itself.
    """
    settings = SparkStart.read({}, {}).settings
    without_jars = {key: value for key, value in settings.items() if key != "spark.jars.packages"}
    return Program(OURS, OUR_TARGET, without_jars), Program(THEIRS, THEIR_TARGET, settings)


@dataclass(frozen=True)
class ProcessRun:
    """The measurements of a process that has run a PySpark script or a dbt command.

    Attributes:
        whole: the seconds from the start of the process to the end of the script or command.
        peak_memory: the peak resident size of the process and of its JVM together, in GB.
        java_options: the options of the JVM, also those that Spark adds.
        settings: the settings of the Spark session.
        contents: the contents of each table after the run, by table.
        output: what the process printed.
    """

    whole: float
    peak_memory: float
    java_options: list[str]
    settings: Mapping[str, str]
    contents: Mapping[str, Contents]
    output: str

    @property
    def document(self) -> dict[str, Any]:
        """The only JSON document in the output: an operation's result, or the row of a query."""
        (line,) = [line for line in self.output.splitlines() if line.startswith("{")]
        found: dict[str, Any] = json.loads(line)
        return found


@dataclass(frozen=True)
class Run(ProcessRun):
    """The measurements of a dbt command.

    Attributes:
        program: the adapter.
        to_first_model: the seconds from the start of the process to the start of the first model.
        models: the execution time of each model in seconds, by model.
        statements: the text and the seconds of each statement, in order.
        calls: the seconds of those methods of our adapter that plan and run type changes, by name.
    """

    program: Program
    to_first_model: float
    models: Mapping[str, float]
    statements: list[tuple[str, float]]
    calls: Mapping[str, float]


class Workspace:
    """A folder with a project, and with tables that are the same before every run.

    Args:
        folder: the folder. It does not have to exist.
        models: the SQL of the models by name.
        files: the text of the project's other files by path.
    """

    def __init__(
        self, folder: Path, models: Mapping[str, str], files: Mapping[str, str] | None = None
    ) -> None:
        self._folder = folder
        self._project = folder / "project"
        # The metastore has absolute paths, so the tables must always be in the same folder.
        self._work = folder / "work"
        self._template = folder / "template"
        texts = {
            "dbt_project.yml": "{name: bench, profile: bench}",
            **{f"models/{name}.sql": sql for name, sql in models.items()},
            **(files or {}),
        }
        for path, text in texts.items():
            file = self._project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def build(self, make: Callable[..., Any], *arguments: Any) -> Any:
        """Create the tables that every run starts with.

        Args:
            make: a function that starts Spark and creates the tables in its working directory.
            arguments: the arguments of the function.

        Returns:
            The return value of the function.
        """
        self._work.mkdir()
        made = apart(make, self._work, *arguments)
        self._work.rename(self._template)
        return made

    def run(
        self,
        program: Program,
        *arguments: str,
        tables: Iterable[str] = (),
        before: Sequence[str] = (),
        after_last: bool = False,
    ) -> Run:
        """Run dbt in a new process, on the tables that ``build`` created, or on none.

        Args:
            program: the adapter.
            arguments: the arguments of dbt.
            tables: the tables whose contents are read afterwards. This time is not measured.
            before: the arguments of a command that runs first, in the same process and Spark.
            after_last: whether it starts with the tables that the last run left.

        Returns:
            The measurements.

        Raises:
            RunFailed: dbt failed.
        """
        if not after_last:
            self._reset()
        own, variables = self._configure(program)
        folders = self._folders(own)
        order = {
            "before": [*before, *folders] if before else [],
            "arguments": [*arguments, *folders],
            "tables": [*tables],
            "calls": PLANNING if program.target["type"] == OUR_TARGET["type"] else (),
        }
        answer = self._run_child("child", order, own, variables)
        return _run(program, answer, self.artifact(program, "run_results"))

    def cpu_seconds(
        self, program: Program, *arguments: str, variables: Mapping[str, str] | None = None
    ) -> float:
        """Run dbt's own command, without the tables.

        Args:
            program: the adapter.
            arguments: the arguments of dbt.
            variables: more environment variables.

        Returns:
            The CPU time of the process and the processes that it starts, in seconds.

        Raises:
            RunFailed: dbt failed.
        """
        self._work.mkdir(exist_ok=True)
        own, own_variables = self._configure(program)
        dbt = str(Path(sys.executable).with_name("dbt"))
        command = [dbt, *arguments, *self._folders(own)]
        _, seconds = self._run_process(command, own, {**own_variables, **(variables or {})})
        return seconds

    def artifact(self, program: Program, name: str) -> Any:
        """Read a JSON file that the last run of a program wrote, such as ``catalog``."""
        file = self._folder / program.name / "target" / f"{name}.json"
        return json.loads(file.read_text(encoding="utf-8"))

    def run_script(
        self, recorded: Run, tables: Iterable[str] = (), query: str | None = None
    ) -> ProcessRun:
        """Run statements with PySpark alone, with the same Spark as a dbt run.

        Args:
            recorded: the dbt run, for its JVM's options, its Spark's settings and its statements.
            tables: as for ``run``.
            query: a statement to run instead. The script prints its only row, as ``document``.

        Returns:
            The measurements.

        Raises:
            RunFailed: the script failed.
        """
        self._reset()
        profile = DeltaWidenCredentials.from_dict({**OUR_TARGET}).server_side_parameters
        start = SparkStart.read(profile, {})
        chosen = (*start.settings, "spark.jars", "spark.driver.extraClassPath")
        settings = {key: recorded.settings[key] for key in chosen if key in recorded.settings}
        program = Program("script", {}, {**recorded.program.settings, **settings})
        own, variables = self._configure(program)
        variables["SPARK_SUBMIT_OPTS"] = shlex.join(added_options(recorded.java_options))
        order = {
            "statements": [query] if query else [text for text, _ in recorded.statements],
            "is_query": query is not None,
            "tables": [*tables],
        }
        return ProcessRun(**_process_run(self._run_child("script_process", order, own, variables)))

    def _reset(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        if self._template.exists():
            shutil.copytree(self._template, self._work, copy_function=_link_or_copy)
        else:
            self._work.mkdir()

    def _configure(self, program: Program) -> tuple[Path, dict[str, str]]:
        """Write a program's configuration. Return its folder and its environment variables."""
        own = self._folder / program.name
        own.mkdir(exist_ok=True)
        profile = {"bench": {"target": "dev", "outputs": {"dev": dict(program.target)}}}
        (own / "profiles.yml").write_text(json.dumps(profile))
        lines = [f"{key} {value}" for key, value in program.settings.items()]
        (own / "spark-defaults.conf").write_text("\n".join(lines))
        variables = {**environment(self._folder), "SPARK_CONF_DIR": str(own)}
        if program.submit_arguments is not None:
            variables["PYSPARK_SUBMIT_ARGS"] = program.submit_arguments
        return own, variables

    def _run_child(
        self, module: str, order: Mapping[str, Any], own: Path, variables: Mapping[str, str]
    ) -> dict[str, Any]:
        """Run a module with an order. Return its answer, the time of its start, and its output."""
        order_file, answer_file = own / "order.json", own / "answer.json"
        order_file.write_text(json.dumps(order))
        command = [sys.executable, "-m", f"benchmarks.{module}", str(order_file), str(answer_file)]
        started = time.time()
        output, _ = self._run_process(command, own, variables)
        return {**json.loads(answer_file.read_text()), "started": started, "output": output}

    def _folders(self, own: Path) -> list[str]:
        """Return dbt's options for the folders of a program."""
        return [
            *("--project-dir", str(self._project), "--profiles-dir", str(own)),
            *("--target-path", str(own / "target"), "--log-path", str(own / "logs")),
        ]

    def _run_process(
        self, command: Sequence[str], own: Path, variables: Mapping[str, str]
    ) -> tuple[str, float]:
        """Run a process. Return its output, and its CPU seconds with those of its children."""
        output_file = own / "output"
        with output_file.open("w") as output:
            process = subprocess.Popen(
                command, cwd=self._work, env=variables, stdout=output, stderr=subprocess.STDOUT
            )
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed = output_file.read_text(errors="replace")
        if process.returncode:
            raise RunFailed("\n".join([f"{own.name} failed:", *printed.splitlines()[-40:]]))
        return printed, usage.ru_utime + usage.ru_stime


def _link_or_copy(source: str, destination: str) -> None:
    """Copy a file. For a Parquet file, create a hard link, because Delta never changes it."""
    if source.endswith(".parquet"):
        os.link(source, destination)
    else:
        shutil.copy2(source, destination)


def added_options(java_options: Iterable[str]) -> list[str]:
    """Return the options of a JVM that Spark does not add by itself at every start."""
    own = ("-Xmx", "-XX:+IgnoreUnrecognizedVMOptions")
    return [each for each in java_options if each.startswith("-X") and not each.startswith(own)]


def _process_run(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "whole": answer["finished"] - answer["started"],
        "peak_memory": answer["peak_memory"] / 1e9,
        "java_options": answer["java_options"],
        "settings": answer["settings"],
        "contents": {name: Contents(**found) for name, found in answer["contents"].items()},
        "output": answer["output"],
    }


def _run(program: Program, answer: Mapping[str, Any], results: Mapping[str, Any]) -> Run:
    timings = {
        result["unique_id"].rpartition(".")[2]: {step["name"]: step for step in result["timing"]}
        for result in results["results"]
    }
    first = min(_timestamp(steps["compile"]["started_at"]) for steps in timings.values())
    return Run(
        **_process_run(answer),
        program=program,
        to_first_model=first - answer["started"],
        models={name: _seconds(steps["execute"]) for name, steps in timings.items()},
        statements=[(text, seconds) for text, seconds in answer["statements"]],
        calls=answer["calls"],
    )


def _seconds(timing: Mapping[str, str]) -> float:
    return _timestamp(timing["completed_at"]) - _timestamp(timing["started_at"])


def _timestamp(text: str) -> float:
    """Parse a time in run_results.json, which is in UTC."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
