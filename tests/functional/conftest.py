"""One Spark, one metastore and one folder for all functional tests of a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.session import get_session
from tests.functional.support import Table

pytest_plugins = ["dbt.tests.fixtures.project"]


@pytest.fixture(scope="session")
def spark_parameters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("spark")
    return {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={folder / 'metastore_db'};create=true"
        ),
        "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={folder / 'derby.log'}",
        "spark.driver.memory": "4g",
        # A zone with daylight saving time: hours that are skipped or repeated must show.
        "spark.sql.session.timeZone": "America/New_York",
    }


@pytest.fixture(scope="session")
def spark(spark_parameters: dict[str, str]) -> Iterator[SparkSession]:
    session = get_session(spark_parameters)
    yield session
    session.stop()


@pytest.fixture(scope="class")
def dbt_profile_target(spark: SparkSession, spark_parameters: dict[str, str]) -> dict[str, object]:
    return {"type": "deltawiden", "threads": 2, "server_side_parameters": spark_parameters}


@pytest.fixture
def table(project, spark: SparkSession):
    """A table of the test's schema, by its name."""
    return lambda name: Table(spark, f"{project.test_schema}.{name}")


@pytest.fixture
def flights_folder() -> Path:
    return Path(__file__).parents[2] / "examples" / "flights"
