"""Several targets in one process have their own settings or are refused."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ZONE = "spark.sql.session.timeZone"
TARGETS = {
    "new_york": {ZONE: "America/New_York"},
    "tokyo": {ZONE: "Asia/Tokyo"},
    "no_zone": {},
    "elsewhere": {ZONE: "Asia/Tokyo", "spark.sql.warehouse.dir": "/nowhere/else"},
    "more_memory": {ZONE: "Asia/Tokyo", "spark.driver.memory": "1234m"},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "zone.sql").write_text(
        "{{ config(materialized='table') }} select current_timezone() as zone"
    )
    flags = {"send_anonymous_usage_stats": False}
    (tmp_path / "dbt_project.yml").write_text(
        yaml.safe_dump({"name": "small", "profile": "small", "flags": flags})
    )
    outputs = {
        name: {"type": "deltawiden", "schema": name, "server_side_parameters": settings}
        for name, settings in TARGETS.items()
    }
    profile = {"small": {"target": "new_york", "outputs": outputs}}
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile))
    return tmp_path


def run(project: Path, scenario: str, *targets: str) -> tuple[list[dict[str, object]], str]:
    script = Path(__file__).with_name("several_targets.py")
    done = subprocess.run(
        [sys.executable, str(script), scenario, *targets],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "RESULTS" in done.stdout, done.stdout + done.stderr
    printed, _, results = done.stdout.rpartition("RESULTS")
    return json.loads(results), printed


@pytest.mark.slow
def test_each_target_has_its_own_settings(project: Path):
    targets = ("new_york", "tokyo", "new_york", "more_memory", "no_zone", "elsewhere", "tokyo")
    results, printed = run(project, "own", *targets)
    zones = [result["zone"] for result in results]
    york, tokyo = "America/New_York", "Asia/Tokyo"
    assert zones == [york, tokyo, york, tokyo, None, None, tokyo], results
    assert re.search("spark.driver.memory is .*, the target has 1234m", printed)
    assert f"{ZONE} is {york}, the target has none" in str(results[4]["error"])
    refused = str(results[5]["error"])
    assert "a Spark, which was started for another target" in refused
    assert "the target has /nowhere/else" in refused


@pytest.mark.slow
def test_a_notebook_gets_its_settings_back_after_dbt(project: Path):
    (project / "models" / "zone.sql").write_text(
        "{{ config(materialized='table') }}\n"
        "select current_timezone() as zone, n from of_the_notebook"
    )
    (project / "models" / "days.sql").write_text(
        "{{ config(materialized='incremental', incremental_strategy='insert_overwrite', "
        "partition_by='day') }} select 1 as n, current_date() as day"
    )
    results, _ = run(project, "foreign", "new_york", "no_zone", "elsewhere")
    assert [result["zone"] for result in results] == ["America/New_York", "UTC", None], results
    assert [result["after"] for result in results] == [["UTC", "true", "STATIC"]] * 3
    assert "a Spark, which was started by another program" in str(results[2]["error"])


@pytest.mark.slow
def test_a_session_without_delta_is_named(project: Path):
    (result,), _ = run(project, "without_delta", "new_york")
    assert "a SparkSession, which another program has started without Delta" in str(result["error"])
