"""dbt's own test suite, with Spark SQL instead of the SQL of Postgres."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from dbt.adapters.spark.impl import SparkAdapter
from dbt.tests.util import write_file
from pyspark.sql import SparkSession

from tests.small import settings_of

SOURCES = ("models", "macros", "seeds", "snapshots", "tests", "analyses", "functions")
# The SQL of Postgres in most projects of the suite. A class can have more in ``spark_sql``.
POSTGRES = {
    r"double precision": "double",
    r"('[^']*'|[\w.]+)::(\w+(?:\(\d+\))?|\{\{.*?\}\})": r"cast(\1 as \2)",
    r"(?<=: )text\b": "string",
    r"\btext(?= *[,)]|$)": "string",
    r"timestamp without time zone": "timestamp",
    # Spark's names have no database.
    r"(`None`|\bNone|\{\{ ?target.database ?\}\})\.": "",
}
SETTINGS = {
    # A table that a test creates is a Delta table too.
    "spark.sql.sources.default": "delta",
    "spark.sql.legacy.createHiveTableByDefault": "false",
    # These settings save time: the suite's tables have few rows.
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
}


@pytest.fixture(scope="class")
def spark_target(
    request: pytest.FixtureRequest,
    settings: None,
    statements_of_tests: None,
    spark_parameters: dict[str, str],
) -> dict[str, object]:
    """The profile of this adapter, or of dbt-spark in the same session."""
    if request.config.getoption("--dbt-adapter") == "spark":
        return {"type": "spark", "method": "session", "host": "localhost", "threads": 4}
    return {"type": "deltawiden", "threads": 4, "server_side_parameters": spark_parameters}


@pytest.fixture(scope="class")
def dbt_profile_target(spark_target: dict[str, object]) -> dict[str, object]:
    return spark_target


@pytest.fixture(scope="class")
def in_spark(request: pytest.FixtureRequest) -> dict[str, str]:
    """The class's patterns of other SQL, with their replacements."""
    return {**POSTGRES, **getattr(request.cls, "spark_sql", {})}


@pytest.fixture(scope="class")
def dbt_project_yml(
    project_root: str, project_config_update: object, in_spark: dict[str, str]
) -> dict[str, object]:
    """The class's project, in Delta for both adapters."""
    project = {
        "name": "test",
        "profile": "test",
        "flags": {"send_anonymous_usage_stats": False},
    }
    if isinstance(project_config_update, str):
        project_config_update = yaml.safe_load(project_config_update)
    project.update(translated(project_config_update or {}, in_spark))
    for kind in ("models", "seeds", "snapshots"):
        project[kind] = {**(project.get(kind) or {}), "+file_format": "delta"}
    write_file(yaml.safe_dump(project), project_root, "dbt_project.yml")
    return project


@pytest.fixture(scope="class")
def project_files(project_files: None, project_root: str, in_spark: dict[str, str]) -> None:
    """The class's files, with the replacements of ``spark_sql``."""
    for folder in SOURCES:
        for file in Path(project_root, folder).rglob("*"):
            if file.suffix in {".sql", ".yml"}:
                file.write_text(translated(file.read_text(encoding="utf-8"), in_spark))


@pytest.fixture(scope="class")
def settings(spark: SparkSession) -> Iterator[None]:
    """Spark's settings for the suite alone."""
    with settings_of(spark, SETTINGS):
        yield


@pytest.fixture(scope="class")
def statements_of_tests(in_spark: dict[str, str]) -> Iterator[None]:
    """Run the tests' own statements in Spark SQL, one statement in each call."""
    run = SparkAdapter.run_sql_for_tests

    def run_each(self: SparkAdapter, sql: str, fetch: str | None, connection: Any) -> Any:
        statements = re.split(r";\s*(?:\n|$)", translated(sql, in_spark))
        answers = [
            run(self, statement, fetch, connection) for statement in statements if statement.strip()
        ]
        return answers[-1]

    with patch.object(SparkAdapter, "run_sql_for_tests", run_each):
        yield


def translated(found: Any, changes: dict[str, str]) -> Any:
    """Replace patterns in a text, or in the texts of a configuration."""
    if isinstance(found, dict):
        return {key: translated(value, changes) for key, value in found.items()}
    if isinstance(found, list):
        return [translated(item, changes) for item in found]
    if not isinstance(found, str):
        return found
    for pattern, by in changes.items():
        found = re.sub(pattern, by, found, flags=re.MULTILINE | re.IGNORECASE)
    return found
