"""One server for all tests of the process. The tests read its tables by Spark Connect."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.connect import open_connect
from dbt.adapters.deltawiden.spark.settings import start_settings
from tests.functional.conftest import photograph, table, wheel  # noqa: F401 (fixtures)
from tests.servers.server import LOOPBACK, Server, running

JARS = """
from dbt.adapters.deltawiden.spark.session import get_session
print(get_session({"spark.sql.catalogImplementation": "in-memory"}).conf.get("spark.jars"))
"""


@pytest.fixture(scope="session")
def delta_jars() -> str:
    """Delta's jars, which the embedded session has downloaded."""
    found = subprocess.run(
        [sys.executable, "-c", JARS], check=True, capture_output=True, text=True
    ).stdout
    return found.strip().replace("file://", "")


@pytest.fixture(scope="session")
def hive_settings() -> dict[str, str]:
    """The settings of the Thrift server, besides its address."""
    return {}


@pytest.fixture(scope="session")
def server(
    spark_parameters: dict[str, str],
    delta_jars: str,
    hive_settings: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Server]:
    settings = start_settings(spark_parameters, {})
    settings = {k: v for k, v in settings.items() if k != "spark.jars.packages"}
    folder = tmp_path_factory.mktemp("server")
    with running(folder, settings, delta_jars, hive_settings) as started:
        yield started


@pytest.fixture(scope="session")
def spark(server: Server) -> Iterator[SparkSession]:
    """The session that reads the tables for the tests."""
    connection = open_connect(LOOPBACK, server.connect, {})
    yield connection.session
    connection.close()
