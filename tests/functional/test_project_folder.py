"""A project in a folder with a blank, `%`, `#` and a letter with a diaeresis."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

DBT = str(Path(sys.executable).parent / "dbt")
ODD = "a b%20 #ü"
MODEL = "{{ config(materialized='incremental', %s) }} select id from {{ ref('codes') }}"


def dbt(folder: Path, *arguments: str) -> str:
    command = [DBT, "--no-use-colors", *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def set_profile(project: Path, **keys: str) -> None:
    output = {"type": "deltawiden", "schema": "x", **keys}
    profile = {"odd": {"target": "dev", "outputs": {"dev": output}}}
    (project / "profiles.yml").write_text(yaml.safe_dump(profile))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / ODD
    for name in ("models", "seeds"):
        (folder / name).mkdir(parents=True)
    (folder / "models" / "managed.sql").write_text(MODEL % "")
    (folder / "models" / "external.sql").write_text(MODEL % f"location_root='{folder}/data'")
    (folder / "seeds" / "codes.csv").write_text("id\n1\n")
    settings = {"name": "odd", "profile": "odd", "flags": {"send_anonymous_usage_stats": False}}
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(settings))
    set_profile(folder)
    return folder


def versions(table: Path) -> int:
    return len([*(table / "_delta_log").glob("*.json")])


def untracked(folder: Path) -> list[str]:
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    status = ["git", "status", "--porcelain", "-z"]
    shown = subprocess.run(status, cwd=folder, capture_output=True, text=True, check=True).stdout
    return [line[3:] for line in shown.split("\0") if line]


@pytest.mark.slow
def test_its_tables_are_in_it_and_found_again(project: Path, tmp_path: Path):
    dbt(project, "build")
    warehouse = project / "spark-warehouse" / "x.db"
    assert (versions(warehouse / "managed"), versions(project / "data" / "external")) == (1, 1)
    assert os.listdir(tmp_path) == [ODD]
    assert {*untracked(project)}.isdisjoint({"spark-warehouse/", "metastore_db/"})
    # From another working folder.
    set_profile(project, spark_dir=".")
    (tmp_path / "elsewhere").mkdir()
    folders = ["--project-dir", str(project), "--profiles-dir", str(project)]
    dbt(tmp_path / "elsewhere", "run", *folders)
    assert (versions(warehouse / "managed"), versions(project / "data" / "external")) == (2, 2)


@pytest.mark.slow
def test_a_kept_spark_and_the_page_of_an_operation_work_in_it(project: Path, tmp_path: Path):
    set_profile(project, keep_alive="10m")
    try:
        dbt(project, "build")
        dbt(project, "run")
        arguments = {"schema": "x", "output": "html", "file": "pages/ü %20.html"}
        dbt(project, "run-operation", "report_type_widening", "--args", json.dumps(arguments))
    finally:
        dbt(project, "run-operation", "stop_spark")
    assert versions(project / "spark-warehouse" / "x.db" / "managed") == 2
    assert (project / "pages" / "ü %20.html").is_file()
    assert os.listdir(tmp_path) == [ODD]
