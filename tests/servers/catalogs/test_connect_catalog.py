"""An Iceberg catalog on a Spark Connect server, where each thread of dbt has its own session."""

from collections.abc import Iterator

import pytest

from dbt.adapters.deltawiden.spark.connect import ConnectConnection, open_connect
from dbt.adapters.deltawiden.spark.start import SparkStart
from tests.servers.server import LOOPBACK, Server, metastore_in, running


@pytest.fixture(scope="module")
def lake_server(
    session_parameters: dict[str, str], delta_jars: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("lake_server")
    settings = SparkStart.read({**session_parameters, **metastore_in(folder)}, {}).settings
    with running(folder, settings, delta_jars) as started:
        yield started


@pytest.fixture
def connections(lake_server: Server) -> Iterator[list[ConnectConnection]]:
    opened = [open_connect(LOOPBACK, lake_server.connect, {}) for _ in range(2)]
    yield opened
    for connection in opened:
        connection.close()


def test_a_session_sees_what_another_one_has_written(connections: list[ConnectConnection]):
    writer, reader = (connection.session for connection in connections)
    writer.sql("create namespace lake.shared").collect()
    writer.sql("create table lake.shared.t (id int) using iceberg").collect()
    assert reader.table("lake.shared.t").count() == 0
    writer.sql("insert into lake.shared.t values (1)").collect()
    assert reader.table("lake.shared.t").count() == 1
    writer.sql("alter table lake.shared.t alter column id type bigint").collect()
    reader.sql("insert into lake.shared.t values (9000000000)").collect()
    assert {row.id for row in writer.table("lake.shared.t").collect()} == {1, 9000000000}
