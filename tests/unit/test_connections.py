"""Statements whose connection is lost, and the sessions of connections."""

import multiprocessing
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.contracts.connection import Connection
from dbt.adapters.spark.connections import PyhiveConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.connections import (
    _CHANGES_SESSION,
    DeltaWidenConnectionManager,
    _copies,
    _repeat,
    _repeated,
    _use_copy,
)
from dbt.adapters.deltawiden.credentials import ConnectionMethod, DeltaWidenCredentials
from dbt.adapters.deltawiden.spark.connect import ConnectConnection


class LostConnection:
    """A connection of PyHive that sends statements, and is lost before their results come."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def cursor(self) -> "LostConnection":
        return self

    def execute(self, sql: str, bindings: Any, async_: bool) -> None:
        self.sent.append(sql)

    def poll(self) -> None:
        raise ConnectionResetError("Connection reset by peer")


@pytest.mark.parametrize("method", [ConnectionMethod.THRIFT, ConnectionMethod.HTTP])
@pytest.mark.parametrize(
    ("sql", "times"),
    [
        ("/* dbt */ select 1", 3),
        ("describe t", 3),
        ("insert into t select 1", 1),
        ("with a as (select 1) insert into t select * from a", 1),
        ("merge into t using s on true when matched then delete", 1),
    ],
)
def test_only_a_statement_that_reads_is_run_again(method: ConnectionMethod, sql: str, times: int):
    credentials = DeltaWidenCredentials(
        schema="shop", method=method, host="h", poll_interval=0, query_retries=2
    )
    lost = LostConnection()
    handle = PyhiveConnectionWrapper(lost, poll_interval=0, query_retries=2)
    manager = DeltaWidenConnectionManager(SimpleNamespace(), multiprocessing.get_context())
    manager.set_thread_connection(
        Connection("deltawiden", "a node", credentials, state="open", handle=handle)
    )
    with pytest.raises(DbtRuntimeError, match="Connection lost while polling query status"):
        manager.add_query(sql)
    assert len(lost.sent) == times


def test_no_other_connection_gets_the_session_of_spark_connect_which_ends_with_its_own():
    session: Any = SimpleNamespace()
    credentials = DeltaWidenCredentials(schema="shop", method=ConnectionMethod.CONNECT, host="h")
    handle = ConnectConnection(session)
    _use_copy(Connection("deltawiden", "a node", credentials, state="open", handle=handle))
    assert handle.session is session
    assert not _copies


@pytest.mark.parametrize(
    ("sql", "changes"),
    [
        ("set `spark.x`", False),
        ("/* dbt */ set `spark.x`\n/* dbt */", False),
        ("set `spark.x`=`1`", True),
        ("set spark.x = 1", True),
        ("SET TIME ZONE 'UTC'", True),
        ("use s", True),
        ("create temporary view v as select 1", True),
        ("create or replace temporary view `m__dbt_tmp` as select 1", False),
    ],
)
def test_a_session_is_copied_for_what_changes_it(sql: str, changes: bool):
    assert bool(_CHANGES_SESSION.match(sql)) is changes


@pytest.mark.parametrize(
    "comment", ["", ";", "\n/* dbt */", "\n/* dbt */;", " -- dbt\n", "/* dbt */ ;"]
)
def test_a_view_that_is_dropped_is_not_repeated_with_a_comment_behind_its_name(comment: str):
    _repeat(f"create temporary view v as select 1{comment}")
    _repeat(f"drop view w{comment}")
    assert len(_repeated) == 1
    _repeat(f"drop view v{comment}")
    assert not _repeated
