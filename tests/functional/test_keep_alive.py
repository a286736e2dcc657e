"""``keep_alive``: dbt commands that use the Spark of an earlier one."""

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark.keep_alive.processes import Process
from tests.functional.test_start import DBT_LINE, dbt, ended, project, set_profile  # noqa: F401


@pytest.fixture
def kept(project: Path) -> dict[str, str]:  # noqa: F811
    """The variables of a project's commands. The kept Spark is in a cache folder of its own."""
    cache = project / "cache" / "dbt-deltawiden"
    cache.mkdir(parents=True)
    for jars in Path("~/.cache/dbt-deltawiden").expanduser().glob("*.json"):
        shutil.copy(jars, cache)
    output = {"type": "deltawiden", "schema": "x", "keep_alive": "5m"}
    memory = {"spark.driver.memory": "1200m"}
    set_profile(project, {**output, "server_side_parameters": memory})
    return {"XDG_CACHE_HOME": str(cache.parent)}


@pytest.mark.slow
def test_a_second_run_uses_the_spark_of_the_first_until_it_is_stopped(
    project: Path,  # noqa: F811
    kept: dict[str, str],
):
    runs = [dbt(project, "run", "--vars", f"type: {name}", **kept) for name in ("int", "bigint")]
    for run in runs:
        assert run.returncode == 0, run.stdout
        assert run.stderr == ""
        lines = [line for line in run.stdout.splitlines() if line]
        assert [line for line in lines if not DBT_LINE.match(line)] == []
    assert "`x`.`one`: widened n: int -> bigint" in runs[1].stdout
    log = (project / "logs" / "dbt.log").read_text()
    (started,) = re.findall(r"Spark is started, and kept alive: process (\d+)", log)
    assert set(re.findall(r"Spark was kept alive: process (\d+)", log)) == {started}

    # What the profile says of the kept Spark does not make dbt parse the project again.
    assert dbt(project, "run", "--vars", "type: bigint", **kept).returncode == 0
    again = (project / "logs" / "dbt.log").read_text().removeprefix(log)
    assert "Nothing changed, skipping partial parsing" in again

    wrong = ("run-operation", "ask", "--args", "{statement: select nothing_of_the_kind}")
    failed = dbt(project, *wrong, **kept)
    assert "[UNRESOLVED_COLUMN" in failed.stdout
    assert failed.stderr == ""

    shown = dbt(project, "debug", "--connection", **kept).stdout
    today = time.strftime("%Y-%m-%d")
    assert f"spark: process {started}, running since {today}" in shown
    assert "spark.driver.memory 1200m, occupies " in shown
    assert "unless it is used before" in shown

    # As after `git clean -fdx`: the kept Spark would go on with deleted files.
    assert Process.find(int(started)).is_running
    shutil.rmtree(project / "metastore_db")
    shutil.rmtree(project / "spark-warehouse")
    assert dbt(project, "run", "--vars", "type: int", **kept).returncode == 0
    assert (project / "metastore_db").exists()
    assert not Process.find(int(started)).is_running
    log = (project / "logs" / "dbt.log").read_text()
    started = re.findall(r"Spark is started, and kept alive: process (\d+)", log)[-1]

    assert Process.find(int(started)).is_running
    stopped = dbt(project, "run-operation", "stop_spark", **kept)
    assert stopped.returncode == 0, stopped.stdout
    assert f"ended: process {started}, started in {os.path.realpath(project)}" in stopped.stdout
    assert ended(project)
