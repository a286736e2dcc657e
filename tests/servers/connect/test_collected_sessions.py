"""A session that Python collects as garbage while another one runs a statement."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dbt.adapters.deltawiden.spark.connect import open_connect
from tests.servers.server import LOOPBACK, Server

# A statement takes less than a second.
ENOUGH = 60


@pytest.fixture
def garbage_is_collected_in_submit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Collect garbage at the worst moment: while a thread pool holds its lock."""
    adjust = ThreadPoolExecutor._adjust_thread_count

    def collect_first(pool: ThreadPoolExecutor) -> None:
        gc.collect()
        adjust(pool)

    monkeypatch.setattr(ThreadPoolExecutor, "_adjust_thread_count", collect_first)


@pytest.mark.parametrize("is_closed", [True, False])
def test_the_statement_ends(server: Server, garbage_is_collected_in_submit, is_closed):
    open_sessions = [open_connect(LOOPBACK, server.connect, {}) for _ in range(2)]
    used, dropped = open_sessions
    if is_closed:
        dropped.close()
    # In a cycle, so that it is collected and not freed.
    dropped.session.itself = dropped.session
    del dropped, open_sessions
    rows: list[object] = []
    work = threading.Thread(target=lambda: rows.extend(used.session.sql("select 1").collect()))
    work.daemon = True
    work.start()
    work.join(ENOUGH)
    assert rows == [(1,)]
    used.close()


def test_a_closed_connection_is_closed_on_the_server(server: Server):
    opened = open_connect(LOOPBACK, server.connect, {})
    opened.close()
    assert opened.session.client.is_closed
