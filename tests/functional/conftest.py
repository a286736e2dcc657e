"""The profile of the functional tests, and the tables that they ask Delta about."""

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from tests.functional.support import Table


@pytest.fixture(scope="class")
def dbt_profile_target(spark: SparkSession, spark_parameters: dict[str, str]) -> dict[str, object]:
    return {"type": "deltawiden", "threads": 2, "server_side_parameters": spark_parameters}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that users install, alone in its folder."""
    folder = tmp_path_factory.mktemp("wheel")
    root = Path(__file__).parents[2]
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(root)]
    subprocess.run(build, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture
def table(project, spark: SparkSession):
    """A table of the test's schema, by its name."""
    return lambda name: Table(spark, f"{project.test_schema}.{name}")


@pytest.fixture
def by_sql_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the adapter use SQL alone, as it does on a Thrift server."""
    monkeypatch.setattr(
        "dbt.adapters.deltawiden.impl.choose_backend", lambda method, *rest: SqlBackend(*rest)
    )
