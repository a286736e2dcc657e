"""An Iceberg catalog on a Thrift server, with the setting that docs/catalogs.md recommends."""

from collections.abc import Iterator

import pytest
from pyhive import hive

from dbt.adapters.deltawiden.spark.start import SparkStart
from tests.servers.catalogs.conftest import ICEBERG
from tests.servers.jars import resolved_jars
from tests.servers.server import LOOPBACK, Server, metastore_in, running


@pytest.fixture(scope="module")
def lake_server(
    session_parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    jars = resolved_jars(ICEBERG)
    folder = tmp_path_factory.mktemp("lake_server")
    settings = SparkStart.read({**session_parameters, **metastore_in(folder)}, {}).settings
    settings["spark.sql.catalog.lake.cache-enabled"] = "false"
    settings["spark.driver.extraClassPath"] = next(jar for jar in jars if "iceberg" in jar)
    del settings["spark.jars.packages"]
    with running(folder, settings, ",".join(jars)) as started:
        yield started


@pytest.fixture
def cursors(lake_server: Server) -> Iterator[list[hive.Cursor]]:
    opened = [hive.connect(LOOPBACK, lake_server.thrift, username="dbt") for _ in range(2)]
    yield [connection.cursor() for connection in opened]
    for connection in opened:
        connection.close()


def test_a_session_sees_what_another_one_has_written(cursors: list[hive.Cursor]):
    writer, reader = cursors
    writer.execute("create namespace lake.over_thrift")
    writer.execute("create table lake.over_thrift.t (id int) using iceberg")
    assert rows(reader) == []
    writer.execute("insert into lake.over_thrift.t values (1)")
    assert rows(reader) == [(1,)]
    writer.execute("alter table lake.over_thrift.t alter column id type bigint")
    reader.execute("insert into lake.over_thrift.t values (9000000000)")
    assert rows(writer) == [(1,), (9000000000,)]


def rows(cursor: hive.Cursor) -> list[tuple[int, ...]]:
    cursor.execute("select id from lake.over_thrift.t order by id")
    return [tuple(row) for row in cursor.fetchall()]
