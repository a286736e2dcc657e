"""dbt's own session on a cluster of a master and two workers, which are processes."""

import sys
from collections.abc import Iterator

import pytest

from tests.servers.own_session import (
    FEW_TASKS,
    dbt_profile_target,  # noqa: F401 (fixture)
    spark,  # noqa: F401 (fixture)
    target,  # noqa: F401 (fixture)
)
from tests.servers.server import LOOPBACK, cluster


@pytest.fixture(scope="session")
def session_parameters(
    spark_parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    with cluster(tmp_path_factory.mktemp("cluster"), workers=2) as master:
        yield {
            **spark_parameters,
            **FEW_TASKS,
            "spark.master": master,
            "spark.driver.host": LOOPBACK,
            "spark.ui.enabled": "false",  # It listens on every address.
            "spark.executor.cores": "1",
            "spark.executor.memory": "1g",
            "spark.pyspark.python": sys.executable,
        }
