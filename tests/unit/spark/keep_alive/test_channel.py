"""How the client of a kept Spark reaches its server, and how long it tries."""

import os
import socket
import subprocess
import sys
from functools import cache

import pytest

OPEN = """
from dbt.adapters.deltawiden.spark.connect import create_session
from dbt.adapters.deltawiden.spark.keep_alive.channel import limit_retries, local_builder
create_session(local_builder({port}, "token"), {{}}, limit_retries)
"""

ASK = """
from dbt.adapters.deltawiden.spark.keep_alive.channel import server_problem
print(server_problem({port}, "token", 5))
"""


@cache
def run_without_a_server(program: str) -> tuple[str, bool]:
    """Return what a program wrote to stderr, and whether it connected to a proxy."""
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # Nobody listens there.
        proxies = ("grpc_proxy", "https_proxy", "http_proxy")
        to_proxy = dict.fromkeys(proxies, f"http://127.0.0.1:{proxy.getsockname()[1]}")
        rest = {k: v for k, v in os.environ.items() if k not in ("no_proxy", "no_grpc_proxy")}
        command = [sys.executable, "-c", program.format(port=closed.getsockname()[1])]
        # Python waits for the thread in which the client releases the statement.
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**rest, **to_proxy},
        )
        proxy.settimeout(0)
        try:
            proxy.accept()
        except BlockingIOError:
            return ended.stderr, False
        return ended.stderr, True


@pytest.mark.parametrize("program", [OPEN, ASK], ids=["session", "probe"])
def test_no_token_goes_through_a_proxy(program: str):
    _, has_proxy = run_without_a_server(program)
    assert not has_proxy


def test_a_process_ends_soon_whose_kept_spark_ends_before_the_first_statement():
    written, _ = run_without_a_server(OPEN)
    assert "DbtDatabaseError" in written
