"""Two dbt commands on one kept Spark at the same time, and one that is killed beside another.

``--deaths`` says how many commands are killed.
"""

import os
import random
import re
import subprocess
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.functional.test_keep_alive import kept as kept
from tests.functional.test_start import DBT, dbt, ended
from tests.functional.test_start import project as project

pytestmark = pytest.mark.slow

MODEL = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
          on_schema_change='append_new_columns', type_widening=true) }}
select id, cast({{ var('value') }} as {{ var('type') }}) as n from range(3)
"""
BEFORE, AFTER = "{value: 1, type: int}", "{value: 3000000000, type: bigint}"
OLD, NEW = [(i, 1) for i in range(3)], [(i, 3_000_000_000) for i in range(3)]
IS_USED = "was killed. Spark may still run its last statement, and another dbt command is using"


def start(project: Path, model: str, variables: str, kept: dict[str, str]) -> subprocess.Popen[str]:
    folders = ["--target-path", f"target_{model}", "--log-path", f"logs_{model}"]
    return subprocess.Popen(
        [DBT, "--no-use-colors", "run", "--select", model, "--vars", variables, *folders],
        cwd=project,
        env={**os.environ, **kept},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def rows(spark: SparkSession, project: Path, model: str) -> list[tuple[int, int]]:
    table = project / "spark-warehouse" / "x.db" / model
    found = spark.sql(f"select id, n from delta.`{table}`").collect()
    return sorted((int(row.id), int(row.n)) for row in found)


@pytest.fixture
def two_models(project: Path) -> Path:
    (project / "models" / "one.sql").unlink()
    for model in ("a", "b"):
        (project / "models" / f"{model}.sql").write_text(MODEL)
    return project


def run_both(project: Path, variables: str, kept: dict[str, str]) -> None:
    both = [start(project, model, variables, kept) for model in ("a", "b")]
    for each in both:
        printed, _ = each.communicate(timeout=900)
        assert each.returncode == 0, printed


def test_two_commands_at_once_start_one_spark_and_widen_two_tables(
    two_models: Path, kept: dict[str, str], spark: SparkSession
):
    run_both(two_models, BEFORE, kept)
    run_both(two_models, AFTER, kept)
    assert [rows(spark, two_models, model) for model in ("a", "b")] == [NEW, NEW]
    logs = "".join((two_models / f"logs_{model}" / "dbt.log").read_text() for model in ("a", "b"))
    assert len({*re.findall(r"Spark (?:is started|was)[^:]*: process (\d+)", logs)}) == 1
    assert dbt(two_models, "run-operation", "stop_spark", **kept).returncode == 0
    assert ended(two_models)


def test_a_command_that_is_killed_at_a_random_time_harms_no_other(
    two_models: Path, kept: dict[str, str], spark: SparkSession, pytestconfig: pytest.Config
):
    started = time.monotonic()
    run_both(two_models, BEFORE, kept)
    seconds = time.monotonic() - started
    for _ in range(int(pytestconfig.getoption("--deaths"))):
        killed = start(two_models, "a", AFTER, kept)
        other = start(two_models, "b", AFTER, kept)
        time.sleep(random.uniform(0, seconds))
        killed.kill()
        killed.communicate()
        printed, _ = other.communicate(timeout=900)
        # A command that begins after the death waits for no statement of the killed one.
        assert other.returncode == 0 or IS_USED in printed, printed
        assert "Traceback" not in printed
        assert rows(spark, two_models, "a") in (OLD, NEW)
    run_both(two_models, AFTER, kept)
    assert [rows(spark, two_models, model) for model in ("a", "b")] == [NEW, NEW]
    assert dbt(two_models, "run-operation", "stop_spark", **kept).returncode == 0
    assert ended(two_models)
