"""dbt's own session on a YARN cluster of two nodes."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from tests.servers.own_session import (
    FEW_TASKS,
    dbt_profile_target,  # noqa: F401 (fixture)
    spark,  # noqa: F401 (fixture)
    target,  # noqa: F401 (fixture)
)
from tests.servers.server import LOOPBACK
from tests.servers.yarn.cluster import QUEUE, yarn_cluster


@pytest.fixture(scope="session")
def session_parameters(
    spark_parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("yarn")
    with yarn_cluster(folder, nodes=2) as configuration, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HADOOP_CONF_DIR", str(configuration))
        yield {
            **spark_parameters,
            **FEW_TASKS,
            "spark.master": "yarn",
            "spark.submit.deployMode": "client",
            "spark.yarn.queue": QUEUE,
            # The nodes are on this machine, which already has Spark's jars.
            "spark.yarn.jars": f"local:{Path(pyspark.__file__).parent / 'jars'}/*",
            "spark.yarn.stagingDir": str(folder / "staging"),
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.ui.enabled": "false",  # It listens on every address.
            "spark.executor.instances": "2",
            "spark.executor.cores": "1",
            "spark.executor.memory": "1g",
            "spark.pyspark.python": sys.executable,
        }
