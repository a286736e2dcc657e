"""One process at a time resolves Spark's packages."""

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark import jar_cache
from dbt.adapters.deltawiden.spark.jar_cache import packages_lock

# It resolves until its standard input ends.
RESOLVE = """
import os, sys
from dbt.adapters.deltawiden.spark.jar_cache import packages_lock
with packages_lock(os.environ):
    print("resolving", flush=True)
    sys.stdin.read()
"""

Start = Callable[[], "subprocess.Popen[str]"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.fixture
def start(environment: dict[str, str]) -> Iterator[Start]:
    processes: list[subprocess.Popen[str]] = []

    def start_one() -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", RESOLVE],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start_one
    for process in processes:
        process.kill()
        process.communicate()


def is_resolving(process: "subprocess.Popen[str]") -> bool:
    """Wait until a process resolves. Before that it may print that it waits."""
    assert process.stdout is not None
    return "resolving\n" in process.stdout


def waits_for(seconds: float, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether this process waits as long as it may, because another one resolves."""
    monkeypatch.setattr(jar_cache, "_MAX_SECONDS", seconds)
    before = time.monotonic()
    with packages_lock(environment):
        return time.monotonic() - before >= seconds


def test_a_second_process_waits_until_the_first_one_has_resolved(start: Start):
    first = start()
    assert is_resolving(first)
    second = start()
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(2)
    first.communicate()
    assert is_resolving(second)


def test_the_end_of_a_killed_process_is_not_waited_for(
    start: Start, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    first = start()
    assert is_resolving(first)
    first.kill()
    first.wait()
    assert not waits_for(60, environment, monkeypatch)


def test_a_process_that_takes_too_long_is_waited_for_no_longer(
    start: Start, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    first = start()
    assert is_resolving(first)
    assert waits_for(0.2, environment, monkeypatch)


def test_a_process_alone_does_not_wait(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    assert not waits_for(60, environment, monkeypatch)


def test_without_a_folder_for_the_lock_packages_are_resolved_all_the_same(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with packages_lock({"XDG_CACHE_HOME": str(tmp_path / "file")}):
        pass


def test_without_file_locks_packages_are_resolved_all_the_same(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jar_cache, "HAS_FILE_LOCKS", False)
    with packages_lock(environment):
        assert not Path(environment["XDG_CACHE_HOME"]).exists()


def test_on_a_file_system_without_locks_packages_are_resolved_all_the_same(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    def fail(handle: int) -> bool:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(jar_cache, "try_lock", fail)
    resolved = False
    with packages_lock(environment):
        resolved = True
    assert resolved
