"""What ``stop_spark`` says if no Spark of the folder is kept alive."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.operations.stop_spark import stop_sparks
from dbt.adapters.deltawiden.spark.keep_alive.processes import Process
from dbt.adapters.deltawiden.spark.keep_alive.state import KeptSpark, spark_folder


def test_a_spark_of_another_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert stop_sparks(everywhere=False).text == "There is no Spark that is kept alive"
    with subprocess.Popen(["sleep", "600"]) as child:
        process = Process.find(child.pid)
        spark = KeptSpark(process, process, 1, "token", "key", 0, "/shop", "1g")
        spark_folder("a place", os.environ).write(spark)
        stopped = stop_sparks(everywhere=False)
        child.kill()
    assert stopped.text == (
        "There is no Spark that is kept alive for this folder. One runs that was started in "
        "/shop. To end it: dbt run-operation stop_spark --args '{everywhere: true}'"
    )
    assert stopped.document["sparks"] == []
    assert stop_sparks(everywhere=False).text == "There is no Spark that is kept alive"


def test_a_folder_that_can_not_be_read_keeps_no_other_spark_from_being_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folders = [spark_folder(f"place {number}", os.environ) for number in range(3)]
    unread, *others = sorted(folders, key=lambda folder: folder.path)
    (unread.path / "spark.json").mkdir()
    ended = replace(Process.find(os.getpid()), pid=2**22 + 1)
    for folder in others:
        folder.write(KeptSpark(ended, ended, 1, "token", "key", 0, "/shop", "1g"))
    stopped = stop_sparks(everywhere=True)
    (failed,) = stopped.failed
    assert f"keep_alive can't use its folder {unread.path}" in failed.error
    assert len(stopped.document["sparks"]) == len(folders)
    assert [folder.read() for folder in others] == [None, None]
