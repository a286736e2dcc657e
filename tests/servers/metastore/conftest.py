"""dbt's own session, with its metastore in PostgreSQL."""

from collections.abc import Iterator

import pytest

from tests.servers.own_session import dbt_profile_target, spark, target  # noqa: F401 (fixtures)
from tests.servers.postgresql import jdbc_driver, metastore_database


@pytest.fixture(scope="session")
def session_parameters(spark_parameters: dict[str, str]) -> Iterator[dict[str, str]]:
    with metastore_database(jdbc_driver()) as database:
        yield {**spark_parameters, **database, "spark.driver.memory": "2g"}


@pytest.fixture(scope="session")
def rounds() -> int:
    return 20
