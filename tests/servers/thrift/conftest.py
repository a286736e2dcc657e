import pytest

from tests.servers.server import LOOPBACK, Server


@pytest.fixture(scope="class")
def dbt_profile_target(server: Server) -> dict[str, object]:
    return {
        "type": "deltawiden",
        "method": "thrift",
        "host": LOOPBACK,
        "port": server.thrift,
        "user": "dbt",
        "threads": 2,
        "poll_interval": 0,
    }
