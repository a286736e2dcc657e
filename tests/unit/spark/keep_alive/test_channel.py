"""PySpark's client goes on for ten minutes if its server has ended, unless it is told not to."""

import socket
import subprocess
import sys

OPEN = """
from dbt.adapters.deltawiden.spark.connect import create_session
from dbt.adapters.deltawiden.spark.keep_alive.channel import limit_retries, local_builder
create_session(local_builder({port}, "token"), {{}}, limit_retries)
"""


def test_a_process_ends_soon_whose_kept_spark_ends_before_the_first_statement():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]  # Nobody listens there when the server is closed.
    command = [sys.executable, "-c", OPEN.format(port=port)]
    # Python waits for the thread in which the client releases the statement.
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "DbtDatabaseError" in ended.stderr
