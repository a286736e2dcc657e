"""The process that makes an archive of classes: alone, after a killed one, and in vain."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark.class_archive import ClassArchive

MODULE = "dbt.adapters.deltawiden.spark.class_archive_training"


class Training:
    """Starts processes that make one archive, with a Java that is a shell script."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "classes"
        self.folder.mkdir()
        self.archive = ClassArchive(str(self.folder / "x.jsa"), "/x/*", (), "1g")
        self.processes: list[subprocess.Popen[bytes]] = []
        self._homes = folder / "jdk"

    def start(self, java: str, seconds: int = 6000) -> subprocess.Popen[bytes]:
        # The process before may start its Java at any moment, so its file must not change.
        home = self._homes / str(len(self.processes))
        script = home / "bin" / "java"
        script.parent.mkdir(parents=True)
        script.write_text(f"#!/bin/sh\n{java}\n")
        script.chmod(0o755)
        process = subprocess.Popen(
            [sys.executable, "-m", MODULE, json.dumps(asdict(self.archive)), str(seconds)],
            env={**os.environ, "JAVA_HOME": str(home)},
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    @property
    def javas(self) -> list[str]:
        """The processes that run its Java."""
        commands = [*Path("/proc").glob("[0-9]*/cmdline")]
        found = []
        for command in commands:
            with contextlib.suppress(OSError):
                found.append(command.read_bytes().decode(errors="replace"))
        return [text for text in found if str(self._homes) in text]

    @property
    def left(self) -> list[Path]:
        return [*self.folder.glob("making-*")]


@pytest.fixture
def training(tmp_path: Path) -> Iterator[Training]:
    training = Training(tmp_path)
    yield training
    for process in training.processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(is_true: Callable[[], object]) -> None:
    end = time.monotonic() + 600
    while not is_true():
        assert time.monotonic() < end, "this took too long"
        time.sleep(0.1)


SLEEPS = "sleep 6000"
FAILS = "exit 1"


def test_the_reason_of_a_failure_is_kept_and_nothing_else(training: Training):
    assert training.start(FAILS).wait() == 0
    assert "JAVA_GATEWAY_EXITED" in Path(training.archive.file).with_suffix(".json").read_text()
    assert training.archive.has_failed()
    assert sorted(file.name for file in training.folder.iterdir()) == ["lock", "x.json"]


def test_the_system_ends_it_first_if_memory_is_short(training: Training):
    score = training.folder.parent / "score"
    assert training.start(f"cat /proc/self/oom_score_adj > {score}; {FAILS}").wait() == 0
    assert score.read_text() == "1000\n"


def test_it_ends_with_its_java_when_its_time_is_over(training: Training):
    assert training.start(SLEEPS, seconds=4).wait() == 0
    stamp = Path(training.archive.file).with_suffix(".json").read_text()
    assert "It took more than 4 seconds" in stamp
    assert training.left == []
    wait_until(lambda: not training.javas)


@pytest.mark.slow
def test_only_one_process_makes_an_archive(training: Training):
    first = training.start(SLEEPS)
    wait_until(lambda: training.left)
    assert training.start(SLEEPS).wait() == 0
    assert first.poll() is None
    assert len(training.left) == 1
    assert not training.archive.has_failed()


@pytest.mark.slow
def test_what_a_killed_process_left_is_deleted_by_the_next(training: Training):
    killed = training.start(SLEEPS)
    wait_until(lambda: training.left)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    (left,) = training.left
    assert training.start(FAILS).wait() == 0
    assert not left.exists()
    assert training.archive.has_failed()


@pytest.mark.slow
def test_an_archive_that_exists_is_not_made_again(training: Training):
    Path(training.archive.file).write_text("classes")
    training.archive.write_stamp()
    assert training.start(FAILS).wait() == 0
    assert training.archive.exists()
