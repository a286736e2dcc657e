"""The archive of classes: made after the first run, used by the next, never a reason to fail."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from dbt.adapters.deltawiden.spark.class_archive import ClassArchive

DBT = str(Path(sys.executable).parent / "dbt")
DBT_LINE = re.compile(r"\d\d:\d\d:\d\d  ")
# The JVM writes a line for each class that it loads.
LOADED = "loaded_classes.log"
LIST_CLASSES = f"-Xlog:class+load:file={LOADED}"
DELTA_FROM_ARCHIVE = re.compile(r" org\.apache\.spark\.sql\.delta\.\S+ source: shared objects file")

MODEL = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns', type_widening=true) }}
select id, cast(id as {{ var('type') }}) as n from range(3)
"""
MACRO = """
{% macro ask(statement) %}
  {% do log(run_query(statement).rows[0][0], info=True) %}
{% endmacro %}
"""


class Project:
    """A project of one model, whose JVM has a cache folder of its own."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.cache = cache
        for kind, name, text in (("models", "one.sql", MODEL), ("macros", "ask.sql", MACRO)):
            (folder / kind).mkdir(parents=True)
            (folder / kind / name).write_text(text)
        flags = {"send_anonymous_usage_stats": False}
        named = {"name": "small", "profile": "small", "flags": flags}
        (folder / "dbt_project.yml").write_text(yaml.safe_dump(named))
        self.set_java_options(LIST_CLASSES)

    @property
    def archives(self) -> Path:
        return self.cache / "dbt-deltawiden" / "classes"

    @property
    def log(self) -> str:
        return (self.folder / "logs" / "spark.log").read_text()

    def set_java_options(self, options: str, **more: str) -> None:
        settings = {
            "spark.driver.extraJavaOptions": options,
            # Whatever the environment's hive-site.xml says.
            "spark.hadoop.hive.metastore.uris": "",
        }
        output = {"type": "deltawiden", "schema": "x", "server_side_parameters": settings, **more}
        profile = {"small": {"target": "dev", "outputs": {"dev": output}}}
        (self.folder / "profiles.yml").write_text(yaml.safe_dump(profile))

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [DBT, "--no-use-colors", *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                "CI": "",
                # Without those of the other tests, which turn the archive off.
                "JDK_JAVA_OPTIONS": "",
                "XDG_CACHE_HOME": str(self.cache),
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def dbt(self, *arguments: str, **variables: str) -> str:
        """Run dbt, which must succeed and print only its own lines."""
        with self.start(*arguments, **variables) as process:
            output, errors = process.communicate()
        assert process.returncode == 0, output + errors
        assert errors == ""
        assert [line for line in output.splitlines() if line and not DBT_LINE.match(line)] == []
        return output

    def ask(self, statement: str, **variables: str) -> str:
        arguments = json.dumps({"statement": statement})
        return self.dbt("run-operation", "ask", "--args", arguments, **variables)

    def used_archive(self) -> bool:
        """Return whether the last JVM took Delta's classes from an archive, not from the jar."""
        loaded = (self.folder / LOADED).read_text()
        assert " org.apache.spark.sql.delta." in loaded
        return bool(DELTA_FROM_ARCHIVE.search(loaded))

    def made(self) -> list[Path]:
        return sorted(self.archives.glob("*.jsa"))


def wait_until(is_true: Callable[[], object], seconds: int = 900) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "this took too long"
        time.sleep(0.2)


def is_complete(project: Project) -> bool:
    """Return whether an archive was made, and nothing makes one any more."""
    stamps = [json.loads(stamp.read_text()) for stamp in project.archives.glob("*.json")]
    assert [stamp for stamp in stamps if "failed" in stamp] == []
    return bool(stamps) and not left_over(project)


def left_over(project: Project) -> list[Path]:
    return [*project.archives.glob("making-*")]


def trainers(project: Project) -> list[int]:
    """Return the processes that make an archive in the project's cache."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode()
        except OSError:  # it has ended
            continue
        if "class_archive_training" in command and str(project.archives) in command:
            found.append(int(process.name))
    return found


class Metastore:
    """A port that takes connections, and a hive-site.xml that names it as the metastore."""

    def __init__(self, folder: Path) -> None:
        self.connections = 0
        self.folder = folder
        self._server = socket.create_server(("127.0.0.1", 0))
        uri = f"thrift://127.0.0.1:{self._server.getsockname()[1]}"
        folder.mkdir()
        (folder / "hive-site.xml").write_text(
            "<configuration><property><name>hive.metastore.uris</name>"
            f"<value>{uri}</value></property></configuration>"
        )
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._server.accept()
            self.connections += 1
            connection.close()


@pytest.fixture(scope="module")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Metastore:
    return Metastore(tmp_path_factory.mktemp("hive") / "conf")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, metastore: Metastore) -> Project:
    """A project that was run once, and whose archive was made then."""
    folder = tmp_path_factory.mktemp("first")
    project = Project(folder / "project", folder / "my cache")
    project.dbt("run", "--vars", "type: int", HIVE_CONF_DIR=str(metastore.folder))
    assert not project.used_archive()
    wait_until(lambda: is_complete(project))
    return project


@pytest.mark.slow
def test_the_archive_is_made_without_the_metastore_of_the_user(
    first: Project, metastore: Metastore
):
    assert len(first.made()) == 1
    assert metastore.connections == 0


@pytest.fixture
def project(first: Project, tmp_path: Path) -> Iterator[Project]:
    """A new project with a copy of the cache."""
    shutil.copytree(first.cache, tmp_path / "cache")
    project = Project(tmp_path / "project", tmp_path / "cache")
    yield project
    for process in trainers(project):
        os.kill(process, signal.SIGTERM)


@pytest.mark.slow
def test_the_second_run_loads_classes_from_the_archive_of_the_first(first: Project):
    (archive,) = first.made()
    before = archive.stat().st_mtime_ns
    output = first.dbt("run", "--vars", "type: bigint")
    assert first.used_archive()
    assert "`x`.`one`: widened n: int -> bigint" in output
    (same,) = first.made()
    assert same.stat().st_mtime_ns == before
    assert trainers(first) == []


@pytest.mark.slow
def test_a_truncated_archive_is_made_again(project: Project):
    (archive,) = project.made()
    size = archive.stat().st_size
    content = archive.read_bytes()
    archive.unlink()
    archive.write_bytes(content[: size // 2])
    project.dbt("run", "--vars", "type: int")
    assert not project.used_archive()
    wait_until(lambda: trainers(project) == [] and is_complete(project))
    assert archive.stat().st_size > size // 2
    project.dbt("run", "--vars", "type: int")
    assert project.used_archive()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["empty", "zeros", "classes"])
def test_an_archive_that_java_refuses_is_not_used(project: Project, damage: str):
    (archive,) = project.made()
    content = archive.read_bytes()
    start = content[: len(content) // 10]
    damaged = {
        "empty": b"",
        "zeros": bytes(2**20),
        "classes": start + b"\xff" * (len(content) - len(start)),
    }
    archive.unlink()
    archive.write_bytes(damaged[damage])
    # As if it had been made so.
    made = {"size": len(damaged[damage]), "time": archive.stat().st_mtime_ns}
    archive.with_suffix(".json").write_text(json.dumps(made))
    project.dbt("run", "--vars", "type: int")
    assert not project.used_archive()


@pytest.mark.slow
def test_a_cache_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path):
    # As root, a test can write to a folder without permissions, but not below a file.
    (tmp_path / "file").touch()
    project = Project(tmp_path / "project", tmp_path / "file" / "cache")
    project.dbt("run", "--vars", "type: int")
    assert not project.used_archive()


@pytest.mark.slow
def test_two_first_runs_at_once_make_one_archive(tmp_path: Path):
    projects = [Project(tmp_path / name, tmp_path / "cache") for name in ("a", "b")]
    runs = [project.start("run", "--vars", "type: int") for project in projects]
    for run in runs:
        output, _ = run.communicate()
        assert run.returncode == 0, output
    wait_until(lambda: is_complete(projects[0]) and trainers(projects[0]) == [])
    assert len(projects[0].made()) == 1
    projects[0].dbt("run", "--vars", "type: bigint")
    assert projects[0].used_archive()


@pytest.mark.slow
def test_an_archive_whose_making_was_killed_is_made_after_the_next_run(project: Project):
    shutil.rmtree(project.archives)
    project.ask("select 1")
    wait_until(lambda: left_over(project))
    (killed,) = trainers(project)
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: trainers(project) == [])
    assert project.made() == []
    project.ask("select 1")
    wait_until(lambda: is_complete(project))
    assert len(project.made()) == 1


@pytest.mark.slow
def test_a_process_whose_time_is_over_ends_in_the_middle_of_a_statement(tmp_path: Path):
    project = Project(tmp_path / "project", tmp_path / "cache")
    project.ask("select 1")
    wait_until(lambda: [*project.archives.glob("making-*/warehouse/*/*/_delta_log/*.json")])
    (late,) = trainers(project)
    os.kill(late, signal.SIGALRM)  # As the system does after ten minutes.
    wait_until(lambda: trainers(project) == [], seconds=60)
    (stamp,) = project.archives.glob("*.json")
    assert "It took more than 600 seconds." in stamp.read_text()
    assert project.made() == []
    assert left_over(project) == []


@pytest.mark.slow
def test_the_reason_why_spark_did_not_start_is_stored(tmp_path: Path):
    archive = ClassArchive(str(tmp_path / "x.jsa"), "", (), "40m")
    words = ["-m", "dbt.adapters.deltawiden.spark.class_archive_training"]
    command = [sys.executable, *words, json.dumps(asdict(archive)), "600"]
    assert subprocess.run(command, check=False, start_new_session=True).returncode == 0
    assert "OutOfMemoryError: Java heap space" in (tmp_path / "x.json").read_text()
    assert archive.has_failed()


@pytest.mark.slow
def test_a_kept_spark_makes_an_archive_when_it_ends(tmp_path: Path):
    project = Project(tmp_path / "project", tmp_path / "cache")
    project.set_java_options(LIST_CLASSES, keep_alive="5m")
    project.ask("select 1")
    try:
        assert trainers(project) == []
        with project.start("run-operation", "stop_spark") as stops:
            output, _ = stops.communicate()
        assert "ended: process" in output
        wait_until(lambda: left_over(project), seconds=60)
    finally:
        for process in trainers(project):
            os.kill(process, signal.SIGTERM)


@pytest.mark.slow
def test_the_user_s_own_java_options_are_kept(project: Project):
    project.set_java_options(
        f"{LIST_CLASSES} -XX:+PrintFlagsFinal -XX:Tier4InvocationThreshold=1234 -Dmine.a=1"
    )
    names = [f"java_method('java.lang.System', 'getProperty', 'mine.{x}')" for x in "abc"]
    output = project.ask(
        f"select concat_ws('-', {', '.join(names)})",
        JAVA_TOOL_OPTIONS="-Dmine.b=2",
        PYSPARK_SUBMIT_ARGS="--conf spark.driver.defaultJavaOptions=-Dmine.c=3 pyspark-shell",
        JDK_JAVA_OPTIONS="",
    )
    assert "1-2-3" in output
    assert re.search(r"Tier4InvocationThreshold +=? *= 1234 ", project.log)
    assert re.search(r"UseParallelGC += true ", project.log)
    assert project.used_archive()


@pytest.mark.slow
def test_a_collector_that_the_user_names_in_a_file_is_used(project: Project):
    file = project.folder / "java_options"
    file.write_text("-XX:+UseSerialGC")
    project.set_java_options(f"{LIST_CLASSES} -XX:+PrintFlagsFinal")
    assert "SerialGC" in project.ask("select 'SerialGC'", JDK_JAVA_OPTIONS=f"@{file}")
    assert re.search(r"UseSerialGC += true ", project.log)
    # The archive is not the reason why the JVM did not start with it.
    assert len(project.made()) == 1
    assert trainers(project) == []


@pytest.mark.slow
def test_an_option_of_the_user_about_archives_turns_it_off(tmp_path: Path):
    project = Project(tmp_path / "project", tmp_path / "cache")
    project.set_java_options(f"{LIST_CLASSES} -Xshare:auto")
    project.ask("select 1")
    assert not project.archives.exists()


@pytest.mark.slow
def test_an_archive_is_not_used_if_the_user_s_option_turns_it_off(project: Project):
    project.set_java_options(f"{LIST_CLASSES} -Xshare:auto")
    project.ask("select 1")
    assert not project.used_archive()
