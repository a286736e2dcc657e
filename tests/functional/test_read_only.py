"""Folders in which dbt can't write: what was found, where, and what to do."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.test_keep_alive import kept as kept
from tests.functional.test_start import DBT, ended
from tests.functional.test_start import project as project

pytestmark = pytest.mark.slow

# Without these capabilities, the permissions of files are for root, too.
PLAIN = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


def dbt(project: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PLAIN, DBT, "--no-use-colors", *words],
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[None]:
    mode = path.stat().st_mode
    path.chmod(mode & ~0o222)
    yield
    path.chmod(mode)


def test_a_folder_of_a_kept_spark_or_of_its_table(project: Path, kept: dict[str, str]):
    run = ("run", "--vars", "type: int")
    assert dbt(project, *run, **kept).returncode == 0
    log = project / "spark-warehouse" / "x.db" / "one" / "_delta_log"
    with read_only(log):
        refused = dbt(project, *run, **kept).stdout
    assert f"{log}/" in refused
    assert "(Permission denied)" in refused
    assert "The user that Spark runs as has to be able to write there" in refused
    (folder,) = (project / "cache" / "dbt-deltawiden" / "kept").iterdir()
    with read_only(folder):
        refused = dbt(project, *run, **kept).stdout
    assert f"keep_alive can't use its folder {folder}: Permission denied" in refused
    assert "set XDG_CACHE_HOME to another folder" in refused
    assert "Traceback" not in refused
    assert dbt(project, *run, **kept).returncode == 0
    assert dbt(project, "run-operation", "stop_spark", **kept).returncode == 0
    assert ended(project)


def test_a_log_of_spark_that_belongs_to_another_user(project: Path):
    (project / "logs").mkdir()
    log = project / "logs" / "spark.log"
    log.touch()
    log.with_name("dbt.log").touch()
    with read_only(log.parent):
        run = dbt(project, "run", "--vars", "type: int")
    assert f"Spark's output can't be written to {log}: Permission denied" in run.stdout
    assert "--log-path" in run.stdout
    assert "Traceback" not in run.stdout


def test_the_embedded_metastore(project: Path):
    run = ("run", "--vars", "type: int")
    assert dbt(project, *run).returncode == 0
    metastore = project / "metastore_db"
    with contextlib.ExitStack() as stack:
        for path in [metastore, *metastore.rglob("*")]:
            stack.enter_context(read_only(path))
        refused = dbt(project, *run).stdout
    assert "in the folder metastore_db may only be read by the user that Spark runs as" in refused
    assert "Traceback" not in refused
    assert dbt(project, *run).returncode == 0
