"""How the client of a kept Spark reaches its server, and how long it tries."""

import socket
import subprocess
import sys

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


@pytest.mark.parametrize("program", [OPEN, ASK], ids=["session", "probe"])
def test_no_token_goes_through_a_proxy(program: str, monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        for name in ("grpc_proxy", "https_proxy", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.getsockname()[1]}")
        for name in ("no_proxy", "no_grpc_proxy"):
            monkeypatch.delenv(name, raising=False)
        command = [sys.executable, "-c", program.format(port=closed.getsockname()[1])]
        subprocess.run(command, capture_output=True, timeout=120, check=False)
        proxy.settimeout(0)
        with pytest.raises(BlockingIOError):
            proxy.accept()


def test_a_process_ends_soon_whose_kept_spark_ends_before_the_first_statement():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]  # Nobody listens there when the server is closed.
    command = [sys.executable, "-c", OPEN.format(port=port)]
    # Python waits for the thread in which the client releases the statement.
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "DbtDatabaseError" in ended.stderr
