"""What the terminal shows if the disk of dbt's log, or that of a kept Spark, is full."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.functional.test_keep_alive import kept as kept
from tests.functional.test_start import DBT, dbt, ended, set_profile
from tests.functional.test_start import project as project


def test_a_log_that_cannot_be_written_is_reported_once(project: Path):
    (project / "logs").mkdir()
    (project / "logs" / "dbt.log").symlink_to("/dev/full")
    run = dbt(project, "parse", "--vars", "type: int")
    assert run.returncode == 0, run.stdout
    lines = run.stderr.splitlines()
    assert lines[-1].startswith("dbt can't write its log (")
    assert lines[-1].endswith("logs/dbt.log): No space left on device.")
    # What dbt writes before it reads the profile still has tracebacks.
    assert sum("can't write its log" in line for line in lines) == 1


# The commands run in a place where a small disk is mounted, which only they see.
SMALL_DISK = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-e", "-c")
ON_A_DISK_THAT_BECOMES_FULL = f"""
mount -t tmpfs -o size=60m tmpfs disk
{DBT} --no-use-colors run
head -c 1G /dev/zero > disk/fill || echo "the disk is full"
{DBT} --no-use-colors run || echo "the run fails"
rm disk/fill
{DBT} --no-use-colors run
{DBT} --no-use-colors run-operation stop_spark
"""
SHUFFLES = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge') }}
select id, max(text) as text from (select id, uuid() as text from range(2000)) group by id
"""


@pytest.mark.slow
def test_a_kept_spark_on_a_full_disk_says_so_and_works_when_there_is_room(
    project: Path,
    kept: dict[str, str],
):
    (project / "models" / "one.sql").write_text(SHUFFLES)
    (project / "disk").mkdir()
    folders = {
        "spark.local.dir": str(project / "disk" / "temporary"),
        "spark.sql.warehouse.dir": str(project / "disk" / "tables"),
        "spark.driver.memory": "1200m",
    }
    output = {"type": "deltawiden", "schema": "x", "keep_alive": "5m"}
    set_profile(project, {**output, "server_side_parameters": folders})
    commands = subprocess.run(
        [*SMALL_DISK, ON_A_DISK_THAT_BECOMES_FULL],
        cwd=project,
        env={**os.environ, **kept},
        capture_output=True,
        text=True,
        check=False,
    )
    printed = commands.stdout
    assert commands.returncode == 0, printed + commands.stderr
    full, _, after = printed.partition("the disk is full")[2].partition("the run fails")
    assert "No space left on device" in full
    assert "A disk is full" in full
    assert after.count("Completed successfully") == 1, printed
    assert "ended: process" in after
    log = (project / "logs" / "dbt.log").read_text()
    assert len({*re.findall(r"Spark (?:is started|was)[^:]*: process (\d+)", log)}) == 1
    assert ended(project)
