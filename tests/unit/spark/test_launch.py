"""The environment that the JVM of the embedded Spark is launched with."""

import io
import os
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkConf

from dbt.adapters.deltawiden.spark import launch as launch_module
from dbt.adapters.deltawiden.spark.class_archive import ClassArchive
from dbt.adapters.deltawiden.spark.launch import _java_options, archive_for, launch

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


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({"spark.master": "yarn"}, {}),
        ({"spark.master": "local[*]", "spark.jars.packages": "a:b:1"}, {}),
        ({"spark.master": "local[*]"}, {"spark.jars": "/mine.jar"}),
    ],
)
def test_there_is_no_archive_on_a_cluster_or_for_unknown_jars(
    settings: dict[str, str], given: dict[str, str]
):
    assert archive_for(settings, given) is None


LOCAL = {"spark.master": "local[*]"}


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClassArchive:
    made = ClassArchive(str(tmp_path / "x.jsa"), "/spark/jars/*", (), "1g")
    Path(made.file).write_text("classes")
    made.write_stamp()
    monkeypatch.setattr(launch_module, "archive_for", lambda settings, given: made)
    return made


class Launches:
    """Records the launches of a JVM, and refuses those whose options have a word."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, refused: str) -> None:
        self.class_paths: list[str | None] = []
        self._refused = refused
        monkeypatch.setattr(launch_module, "launch_gateway", self._launch)

    def _launch(self, conf: SparkConf, streams: Any) -> str:
        self.class_paths.append(conf.get("spark.driver.extraClassPath"))
        if self._refused in os.environ.get(OPTIONS, ""):
            raise RuntimeError("JAVA_GATEWAY_EXITED")
        return "gateway"


def test_a_jvm_is_launched_with_its_archive(archive: ClassArchive, monkeypatch: pytest.MonkeyPatch):
    launches = Launches(monkeypatch, refused="never")
    assert launch(LOCAL, {}, io.StringIO()) == "gateway"
    assert launches.class_paths == [archive.class_path]
    assert archive.exists()


def test_a_jvm_that_dies_of_its_archive_is_launched_without_it(
    archive: ClassArchive, monkeypatch: pytest.MonkeyPatch
):
    launches = Launches(monkeypatch, refused="SharedArchiveFile")
    assert launch(LOCAL, {}, io.StringIO()) == "gateway"
    assert launches.class_paths == [archive.class_path, None]
    assert not archive.exists()


def test_a_jvm_that_dies_of_something_else_keeps_its_archive(
    archive: ClassArchive, monkeypatch: pytest.MonkeyPatch
):
    Launches(monkeypatch, refused="")
    with pytest.raises(RuntimeError):
        launch(LOCAL, {}, io.StringIO())
    assert archive.exists()
