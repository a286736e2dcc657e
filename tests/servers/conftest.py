"""One server for all tests of the process. The tests read its tables by Spark Connect."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.connect import open_connect
from dbt.adapters.deltawiden.spark.settings import SAFE_SETTINGS
from dbt.adapters.deltawiden.spark.start import SparkStart
from tests.functional.conftest import photograph, table, wheel  # noqa: F401 (fixtures)
from tests.servers.jars import resolved_jars
from tests.servers.server import LOOPBACK, Server, metastore_in, running


@pytest.fixture(scope="session")
def delta_jars() -> str:
    """Delta's jars, which the embedded session has downloaded."""
    return ",".join(resolved_jars())


@pytest.fixture(scope="session")
def server_settings(
    spark_parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The settings of Spark in the server."""
    return {**spark_parameters, **metastore_in(tmp_path_factory.mktemp("metastore"))}


@pytest.fixture(scope="session")
def hive_settings() -> dict[str, str]:
    """The settings of the Thrift server, besides its address."""
    return {}


@pytest.fixture(scope="session")
def server(
    server_settings: dict[str, str],
    delta_jars: str,
    hive_settings: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Server]:
    settings = SparkStart.read(server_settings, {}).settings
    # A server of users has none of what dbt sets in each session.
    not_set = {"spark.jars.packages", *SAFE_SETTINGS}
    settings = {k: v for k, v in settings.items() if k not in not_set}
    folder = tmp_path_factory.mktemp("server")
    with running(folder, settings, delta_jars, hive_settings) as started:
        yield started


@pytest.fixture(scope="session")
def spark(server: Server) -> Iterator[SparkSession]:
    """The session that reads the tables for the tests."""
    connection = open_connect(LOOPBACK, server.connect, {})
    yield connection.session
    connection.close()


@pytest.fixture(scope="session")
def rounds() -> int:
    """How many times two processes write at the same time: see ``concurrent_runs.py``."""
    return 50
