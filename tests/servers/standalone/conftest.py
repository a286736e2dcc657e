"""dbt's own session on a cluster of a master and two workers, which are processes."""

import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.session import get_session
from tests.servers.server import LOOPBACK, cluster


@pytest.fixture(scope="session")
def cluster_parameters(
    spark_parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    with cluster(tmp_path_factory.mktemp("cluster"), workers=2) as master:
        yield {
            **spark_parameters,
            "spark.master": master,
            "spark.driver.host": LOOPBACK,
            "spark.ui.enabled": "false",  # It listens on every address.
            "spark.executor.cores": "1",
            "spark.executor.memory": "1g",
            "spark.pyspark.python": sys.executable,
        }


@pytest.fixture(scope="session")
def spark(cluster_parameters: dict[str, str]) -> Iterator[SparkSession]:
    session = get_session(cluster_parameters)
    yield session
    session.stop()


@pytest.fixture(scope="class")
def dbt_profile_target(
    spark: SparkSession, cluster_parameters: dict[str, str]
) -> dict[str, object]:
    return {"type": "deltawiden", "threads": 2, "server_side_parameters": cluster_parameters}
