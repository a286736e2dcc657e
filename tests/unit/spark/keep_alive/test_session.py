"""When a process begins and ends to use a kept Spark."""

import threading
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark.keep_alive import session
from dbt.adapters.deltawiden.spark.keep_alive.client import Attached
from dbt.adapters.deltawiden.spark.keep_alive.processes import Process
from dbt.adapters.deltawiden.spark.keep_alive.session import prestart_kept, release_kept
from dbt.adapters.deltawiden.spark.keep_alive.state import KeptSpark, SparkFolder
from dbt.adapters.deltawiden.spark.start import SparkStart


def test_a_command_that_ends_early_does_not_wait_for_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = SparkFolder(tmp_path)
    process = Process(1, "")
    spark = KeptSpark(process, process, 1, "token", "key", 0, "/", "1g")
    asked, has_started, ended = threading.Event(), threading.Event(), threading.Event()

    def attach(start: SparkStart, keep_alive: int) -> Attached:
        asked.set()
        assert has_started.wait(60)
        threading.Thread(target=wait_for_end, daemon=True).start()
        return Attached(spark, folder.use(keep_alive), is_new=True, log=folder.spark_log)

    def wait_for_end() -> None:
        with session._lock:
            ended.set()

    monkeypatch.setattr(session, "attach", attach)
    prestart_kept(SparkStart.read({}), 60)
    assert asked.wait(60)
    releases = threading.Thread(target=release_kept, daemon=True)
    releases.start()
    releases.join(5)
    assert not releases.is_alive()
    has_started.set()
    assert ended.wait(60)
    # The process goes on, as a program that has called dbt.
    assert not folder.is_used
