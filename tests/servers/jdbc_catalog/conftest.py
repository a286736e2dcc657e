"""Spark with a second catalog: Iceberg's own, which keeps its tables' names in PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.catalogs.conftest import iceberg_parameters
from tests.servers.own_session import dbt_profile_target, spark, target  # noqa: F401 (fixtures)
from tests.servers.postgresql import jdbc_driver, metastore_database


@pytest.fixture(scope="session")
def session_parameters(
    spark_parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    folder: Path = tmp_path_factory.mktemp("lake")
    with metastore_database(jdbc_driver()) as database:
        jdo = "spark.hadoop.javax.jdo.option.Connection"
        settings = {
            "type": "jdbc",
            "uri": database[f"{jdo}URL"],
            "jdbc.user": database[f"{jdo}UserName"],
            "jdbc.password": database[f"{jdo}Password"],
            "jdbc.schema-version": "V1",  # It is needed for views.
        }
        yield {**spark_parameters, **database, **iceberg_parameters(folder, settings)}
