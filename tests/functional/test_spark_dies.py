"""A Spark that ends in the middle of a run: what dbt says, and what the next run does."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.test_start import DBT, dbt, ended, set_profile, works_in
from tests.functional.test_start import project as project

SLEEPS = """
{{ config(materialized='incremental') }}
select 1 as n
{% if not var('quick', false) %}
  from range(1) where java_method('java.lang.Thread', 'sleep', 300000L) is not null
{% endif %}
"""


def java_of(project: Path) -> list[int]:
    """Return the JVMs that work in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        if works_in(project, process) and b"SparkSubmit" in (process / "cmdline").read_bytes():
            found.append(int(process.name))
    return found


def run_and_kill(project: Path, **environment: str) -> tuple[int, str]:
    """Run the model, and kill the JVM while its statement runs. Return what dbt prints."""
    log = project / "logs" / "dbt.log"
    before = log.stat().st_size if log.exists() else 0
    command = [DBT, "--no-use-colors", "run"]
    with subprocess.Popen(
        command,
        cwd=project,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        while not (log.exists() and "'sleep', 300000L" in log.read_text()[before:]):
            assert process.poll() is None
            time.sleep(0.2)
        time.sleep(2)
        (jvm,) = java_of(project)
        os.kill(jvm, signal.SIGKILL)
        printed, _ = process.communicate(timeout=300)
    return jvm, printed


@pytest.fixture
def sleeping(project: Path) -> Path:
    (project / "models" / "one.sql").write_text(SLEEPS)
    return project


def check(project: Path, jvm: int, printed: str, log: Path) -> None:
    sentence = f"Spark (process {jvm}) has ended"
    assert printed.count(sentence) >= 1, printed
    assert f"Its log is {log}" in printed
    assert "may have been committed or not" in printed
    for noise in ("Traceback", "Py4J", "_MultiThreadedRendezvous", "ERROR:", "Connection refused"):
        assert noise not in printed, printed


@pytest.mark.slow
def test_spark_inside_dbt_is_killed(sleeping: Path):
    jvm, printed = run_and_kill(sleeping)
    check(sleeping, jvm, printed, sleeping / "logs" / "spark.log")
    assert ended(sleeping)


@pytest.mark.slow
def test_the_metastore_that_a_killed_spark_has_left_locked_opens_again(sleeping: Path):
    temporary = sleeping / "temporary"
    temporary.mkdir()
    own = {"JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={temporary}"}
    assert dbt(sleeping, "run", "--vars", "quick: true", **own).returncode == 0
    run_and_kill(sleeping, **own)
    assert (sleeping / "metastore_db" / "db.lck").exists()
    assert [*temporary.iterdir()] != []
    (sleeping / "models" / "one.sql").write_text("select 1 as n")
    assert dbt(sleeping, "run", **own).returncode == 0
    assert ended(sleeping)
    assert [*temporary.iterdir()] == []


@pytest.fixture
def kept(sleeping: Path) -> Iterator[dict[str, str]]:
    cache = sleeping / "cache" / "dbt-deltawiden"
    cache.mkdir(parents=True)
    for jars in Path("~/.cache/dbt-deltawiden").expanduser().glob("*.json"):
        shutil.copy(jars, cache)
    set_profile(sleeping, {"type": "deltawiden", "schema": "x", "keep_alive": "5m"})
    environment = {"XDG_CACHE_HOME": str(cache.parent)}
    yield environment
    dbt(sleeping, "run-operation", "stop_spark", **environment)


@pytest.mark.slow
def test_spark_that_was_kept_alive_is_killed(sleeping: Path, kept: dict[str, str]):
    assert dbt(sleeping, "run", "--vars", "quick: true", **kept).returncode == 0
    jvm, printed = run_and_kill(sleeping, **kept)
    (log,) = (sleeping / "cache").rglob("spark.log")
    check(sleeping, jvm, printed, log)
    (sleeping / "models" / "one.sql").write_text("select 1 as n")
    assert dbt(sleeping, "run", **kept).returncode == 0
