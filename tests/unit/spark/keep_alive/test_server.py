"""When the process of a kept Spark ends it."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark.keep_alive import server
from dbt.adapters.deltawiden.spark.keep_alive.processes import Process
from dbt.adapters.deltawiden.spark.keep_alive.state import KeptSpark, SparkFolder, identities


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_LONGEST_WAIT", 0.02)


def test_it_goes_on_while_its_file_cannot_be_read(tmp_path: Path):
    folder = SparkFolder(tmp_path / "kept")
    folder.path.mkdir()
    state = folder.path / "spark.json"
    with subprocess.Popen(["sleep", "600"]) as jvm:
        spark = KeptSpark(
            Process.find(os.getpid()), Process.find(jvm.pid), 1, "token", "key", 0, "/", "1g"
        )
        folder.write(spark)
        folder.use(900).end()
        ended = threading.Event()
        waits = threading.Thread(target=server._wait, args=(folder, spark, 900, ["/"], ended))
        waits.start()
        try:
            (tmp_path / "stored").hardlink_to(state)
            (tmp_path / "loop").symlink_to(state)
            (tmp_path / "loop").replace(state)  # a link to itself
            waits.join(0.3)
            assert waits.is_alive()
            (tmp_path / "stored").replace(state)
            waits.join(0.3)
            assert waits.is_alive()
            state.unlink()
            waits.join(30)
            assert not waits.is_alive()
        finally:
            ended.set()
            jvm.kill()


def test_it_ends_when_the_project_is_moved_and_nobody_uses_it(tmp_path: Path):
    project, folder = tmp_path / "project", SparkFolder(tmp_path / "kept")
    project.mkdir()
    folder.path.mkdir()
    with subprocess.Popen(["sleep", "600"]) as jvm:
        mine, other, folders = Process.find(os.getpid()), Process.find(jvm.pid), [str(project)]
        spark = KeptSpark(
            mine, other, 1, "token", "key", 0, str(project), "1g", identities(folders)
        )
        folder.write(spark)
        use = folder.use(900)
        ended = threading.Event()
        waits = threading.Thread(target=server._wait, args=(folder, spark, 900, folders, ended))
        waits.start()
        try:
            project.rename(tmp_path / "moved")
            waits.join(0.3)
            assert waits.is_alive()
            use.end()
            waits.join(30)
            assert not waits.is_alive()
        finally:
            ended.set()
            jvm.kill()
    assert folder.read() is None
