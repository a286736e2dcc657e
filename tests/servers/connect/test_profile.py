"""What the profile and the environment say, and the server or the network does not accept."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.deltawiden.spark.connect import open_connect
from tests.functional.support import dbt
from tests.servers.server import LOOPBACK, Server

TIME_ZONE = "spark.sql.session.timeZone"
TOKEN = "spark.connect.authenticate.token"
SECRET = "correct-horse-battery-staple"


def test_a_value_that_the_server_refuses_is_an_error(server: Server):
    with pytest.raises(DbtDatabaseError, match="Europe/Amsterdm"):
        open_connect(LOOPBACK, server.connect, {TIME_ZONE: "Europe/Amsterdm"})


class TestSettingOfTheServer:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, target):
        return {**target, "server_side_parameters": {TOKEN: SECRET, TIME_ZONE: "Asia/Tokyo"}}

    @pytest.fixture(scope="class")
    def models(self):
        select = "select current_timezone() as zone"
        return {f"{name}.sql": f"{{{{ config(materialized='table') }}}} {select}" for name in "ab"}

    def test_is_named_once_and_its_value_is_not_shown(self, project, table, recwarn):
        run = dbt("run")
        assert table("b").rows() == [("Asia/Tokyo",)]
        assert run.output.count(f"The session does not have {TOKEN}") == 1
        shown = [run.output, *(str(warning.message) for warning in recwarn)]
        assert SECRET not in "\n".join(shown)


class TestViewOfOnRunStart:
    """It is created again for each node, also while its table is not there."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        own = "{{ target.schema }}"
        return {
            "on-run-start": [
                f"create or replace table {own}.read using delta as select 1 as n",
                f"create temporary view of_table as select * from {own}.read",
            ]
        }

    @pytest.fixture(scope="class")
    def models(self):
        drop = "{{ config(pre_hook='drop table {{ target.schema }}.read') }}"
        return {
            "first.sql": f"{drop} select 1 as n",
            "second.sql": "select n + 1 as n from {{ ref('first') }}",
            "third.sql": "select t.* from of_table as t join {{ ref('second') }} using (n)",
        }

    def test_is_missed_only_by_the_nodes_that_read_it(self, project, table, spark):
        run = dbt("run")
        assert run.status("second") == "success", run.message("second")
        assert table("second").rows() == [(2,)]
        assert "[TABLE_OR_VIEW_NOT_FOUND]" in run.message("third")
        assert "of_table" in run.message("third")

    def test_is_missed_by_all_if_another_one_would_be_read(self, project, spark):
        spark.sql("create or replace view of_table as select 2 as n")
        try:
            run = dbt("run")
        finally:
            spark.sql("drop view of_table")
        assert "[TABLE_OR_VIEW_NOT_FOUND]" in run.message("second")


@pytest.fixture
def proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """A proxy, which knows the server as spark.invalid. What it was asked for."""
    asked: list[bytes] = []
    listening = socket.create_server((LOOPBACK, 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                client = listening.accept()[0]
                asked.append(client.recv(4096).split(b"\r\n")[0])
                behind = socket.create_connection((LOOPBACK, server.connect))
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                for ends in ((client, behind), (behind, client)):
                    threading.Thread(target=pump, args=ends, daemon=True).start()

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    monkeypatch.setenv("grpc_proxy", f"http://{LOOPBACK}:{listening.getsockname()[1]}")
    with closing(listening):
        yield asked


def test_a_server_behind_a_proxy_is_reached(proxy: list[bytes], server: Server):
    connection = open_connect("spark.invalid", server.connect, {})
    assert connection.session.sql("select 1").collect() == [(1,)]
    assert proxy == [f"CONNECT spark.invalid:{server.connect} HTTP/1.1".encode()]
    connection.close()


def test_an_address_of_ipv6_is_one(server: Server):
    """The server listens on IPv4 alone, and Linux has both in one address."""
    mapped = f"::ffff:{LOOPBACK}"
    connection = open_connect(mapped, server.connect, {})
    assert connection.session.sql("select 1").collect() == [(1,)]
    connection.close()
