"""The fixtures of the functional tests: the profile, the wheel and the tables."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.functional.operate import operate
from tests.functional.pictures import SCHEMES, screenshot
from tests.functional.support import Table


@pytest.fixture(scope="class")
def dbt_profile_target(spark: SparkSession, spark_parameters: dict[str, str]) -> dict[str, object]:
    return {"type": "deltawiden", "threads": 2, "server_side_parameters": spark_parameters}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that users install, alone in its folder."""
    folder = tmp_path_factory.mktemp("wheel")
    # A build writes into its folder, and another test process may build at the same time.
    source = tmp_path_factory.mktemp("source") / "dbt-deltawiden"
    ignored = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__")
    shutil.copytree(Path(__file__).parents[2], source, ignore=ignored)
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture
def table(project, spark: SparkSession):
    """Return a function that finds a table of the test's schema by its name."""
    return lambda name: Table(spark, f"{project.test_schema}.{name}")


@pytest.fixture(scope="class")
def unique_schema(request: pytest.FixtureRequest, prefix: str) -> str:
    """The schema of dbt's fixture; in a picture, a schema as users have."""
    if request.config.getoption("--pictures"):
        return "shop"
    return f"{prefix}_{request.module.__name__.split('.')[-1]}"


@pytest.fixture(scope="class")
def photograph(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Return a function that takes pictures of an operation's page for ``--pictures``."""
    folder = request.config.getoption("--pictures")
    # A test runs in its project's folder.
    start = request.config.invocation_params.dir

    def take(operation: str, *options: str, size: tuple[int, int], **arguments: object) -> None:
        if not folder:
            return
        page = tmp_path_factory.mktemp("page") / f"{operation}.html"
        operate(operation, *options, output="html", file=str(page), **arguments)
        for scheme in SCHEMES:
            screenshot(page, start / folder / f"{operation}-{scheme}.png", scheme, size)

    return take


@pytest.fixture(scope="class")
def nothing_else_changes(project, spark: SparkSession) -> Iterator[None]:
    """Fail if the class changes anything on the server outside its own schema."""
    spark.sql("create schema if not exists hostile_victim")
    spark.sql("create or replace table hostile_victim.victim using delta as select 1 as id")
    spark.sql("create or replace temporary view victim as select 2 as id")
    before = _outside(spark, project.test_schema)
    yield
    assert _outside(spark, project.test_schema) == before
    assert spark.table("victim").collect() == [(2,)]
    spark.sql("drop view victim")
    spark.sql("drop schema hostile_victim cascade")


def _outside(spark: SparkSession, own: str) -> dict[str, Any]:
    """Return what the server has outside one schema: schemas, tables, and the victim's rows."""
    schemas = [row[0] for row in spark.sql("show databases").collect()]
    tables = {
        schema: sorted(
            row.tableName
            for row in spark.sql(f"show tables in `{schema}`").collect()
            if not row.isTemporary
        )
        for schema in schemas
        if not schema.startswith(own)
    }
    rows = spark.table("hostile_victim.victim").collect()
    history = spark.sql("describe history hostile_victim.victim").count()
    return {"tables": tables, "rows": rows, "history": history}
