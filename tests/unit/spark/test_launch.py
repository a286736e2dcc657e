"""The environment that the JVM of the embedded Spark is launched with."""

import os
from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.spark import launch as launch_module
from dbt.adapters.deltawiden.spark.class_archive import ClassArchive
from dbt.adapters.deltawiden.spark.launch import _java_options, launch
from dbt.adapters.deltawiden.spark.start import JavaStart, SparkStart

OPTIONS = "SPARK_SUBMIT_OPTS"


def test_our_options_come_before_the_user_s_and_only_for_the_launch(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv(OPTIONS, "-Dmine=1")
    with _java_options(["-XX:SharedArchiveFile=/my cache/x.jsa"]):
        assert os.environ[OPTIONS] == "'-XX:SharedArchiveFile=/my cache/x.jsa' -Dmine=1"
    assert os.environ[OPTIONS] == "-Dmine=1"
    with _java_options([]):
        assert os.environ[OPTIONS] == "-Dmine=1"


def test_the_variable_has_no_options_after_the_launch(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(OPTIONS, raising=False)
    with _java_options([]):
        assert OPTIONS not in os.environ
    with pytest.raises(ValueError, match="no JVM"), _java_options(["-Dx=1"]):
        raise ValueError("no JVM")
    assert os.environ[OPTIONS] == ""


def test_the_environment_can_be_read_while_the_launch_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(OPTIONS, raising=False)
    with _java_options(["-Dx=1"]):
        reading = iter(os.environ.items())
        next(reading)
    assert (OPTIONS, "") in list(reading)


def test_the_options_of_a_jvm_on_a_cluster_are_the_user_s():
    assert SparkStart.read({"spark.master": "yarn"}).java == JavaStart()


DRIVER_OPTIONS = "spark.driver.extraJavaOptions"


def java_home(folder: Path, printed: str) -> dict[str, str]:
    """An environment with a Java that prints a text, and has no file with its version."""
    (folder / "bin").mkdir()
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{printed}' >&2")
    java.chmod(0o755)
    return {"JAVA_HOME": str(folder)}


@pytest.mark.parametrize("master", ["local[*]", "yarn", "spark://h:7077"])
def test_secret_java_options_are_no_arguments_with_any_master(tmp_path: Path, master: str):
    settings = {"spark.master": master, DRIVER_OPTIONS: "-Dx.plain=1 -Daws.secretAccessKey=abcd"}
    environment = java_home(tmp_path, 'openjdk version "17.0.1"')
    start = SparkStart.read(settings, environment)
    assert launch_module._secret_options(start) == '"-Dx.plain=1"\n"-Daws.secretAccessKey=abcd"'
    plain = SparkStart.read({**settings, DRIVER_OPTIONS: "-Dx.plain=1"}, environment)
    assert launch_module._secret_options(plain) == ""


def test_a_secret_option_is_an_error_if_nobody_knows_whether_java_reads_files(tmp_path: Path):
    settings = {"spark.master": "yarn", DRIVER_OPTIONS: "-Dx.token=abcd"}
    start = SparkStart.read(settings, java_home(tmp_path, "no version"))
    with pytest.raises(DbtConfigError, match="version of Java"):
        launch_module._secret_options(start)


SETTINGS = {"spark.master": "local[*]"}
JAVA = JavaStart(defaults=("-XX:+UseParallelGC",))
START = SparkStart({}, {}, SETTINGS, JAVA, {})
REFUSAL = "Error: Could not create the Java Virtual Machine."
CRASH = "# A fatal error has been detected by the Java Runtime Environment:"


@pytest.fixture
def archive(tmp_path: Path) -> ClassArchive:
    made = ClassArchive(str(tmp_path / "x.jsa"), "/spark/jars/x.jar", (), "1g")
    Path(made.file).write_text("classes")
    made.write_stamp()
    return made


class Launches:
    """Records the launches of a JVM, and lets those fail whose options have a word."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, log: Path) -> None:
        self.attempts: list[tuple[str | None, bool]] = []
        self.fails = "no option"
        self.prints = REFUSAL
        self._log = log
        monkeypatch.setattr(launch_module, "launch_gateway", self._launch)

    def launch(self, archive: ClassArchive | None) -> Any:
        with self._log.open("w") as log:
            return launch(START, archive, log)

    def _launch(self, conf: None, streams: Any) -> str:
        options = os.environ.get(OPTIONS, "")
        _, file, *_ = os.environ["PYSPARK_SUBMIT_ARGS"].split()
        lines = Path(file).read_text().splitlines()
        given = dict(line.split("=", 1) for line in lines if line)
        class_path = given.get("spark.driver.extraClassPath")
        self.attempts.append((class_path, JAVA.defaults[0] in options))
        if self.fails in options:
            streams["stdout"].write(self.prints)
            streams["stdout"].flush()
            raise RuntimeError("JAVA_GATEWAY_EXITED")
        return "gateway"


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Launches:
    return Launches(monkeypatch, tmp_path / "spark.log")


def test_a_jvm_is_launched_with_its_archive(archive: ClassArchive, launches: Launches):
    assert launches.launch(archive) == "gateway"
    assert launches.attempts == [(archive.class_path, True)]
    assert archive.exists()


@pytest.mark.parametrize("prints", [REFUSAL, CRASH])
def test_an_archive_that_a_jvm_dies_of_is_not_made_again_at_once(
    archive: ClassArchive, launches: Launches, prints: str
):
    launches.fails, launches.prints = "SharedArchiveFile", prints
    assert launches.launch(archive) == "gateway"
    assert launches.attempts == [(archive.class_path, True), (None, True)]
    assert archive.has_failed()
    assert not Path(archive.file).exists()


def test_the_user_s_collector_in_a_file_is_not_the_archive_s_fault(
    archive: ClassArchive, launches: Launches
):
    launches.fails = "UseParallelGC"
    assert launches.launch(archive) == "gateway"
    assert launches.attempts == [(archive.class_path, True), (None, True), (None, False)]
    assert archive.exists()


@pytest.mark.parametrize("with_archive", [True, False])
def test_a_jvm_that_fails_for_another_reason_is_launched_once(
    archive: ClassArchive, launches: Launches, with_archive: bool
):
    launches.fails, launches.prints = "", "java.lang.RuntimeException: unresolved dependency"
    with pytest.raises(RuntimeError, match="JAVA_GATEWAY_EXITED"):
        launches.launch(archive if with_archive else None)
    assert len(launches.attempts) == 1
    assert archive.exists()
