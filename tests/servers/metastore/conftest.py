"""dbt's own session, with its metastore in PostgreSQL."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.session import get_session
from tests.servers.postgresql import jdbc_driver, metastore_database


@pytest.fixture(scope="session")
def metastore_parameters(spark_parameters: dict[str, str]) -> Iterator[dict[str, str]]:
    with metastore_database(jdbc_driver()) as database:
        yield {**spark_parameters, **database, "spark.driver.memory": "2g"}


@pytest.fixture(scope="session")
def spark(metastore_parameters: dict[str, str]) -> Iterator[SparkSession]:
    session = get_session(metastore_parameters)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def target(spark: SparkSession, metastore_parameters: dict[str, str]) -> dict[str, object]:
    return {"type": "deltawiden", "threads": 2, "server_side_parameters": metastore_parameters}


@pytest.fixture(scope="class")
def dbt_profile_target(target: dict[str, object]) -> dict[str, object]:
    return target


@pytest.fixture(scope="session")
def rounds() -> int:
    return 20
