import pytest

from tests.servers.server import LOOPBACK, Server


@pytest.fixture(scope="session")
def target(server: Server) -> dict[str, object]:
    return {
        "type": "deltawiden",
        "method": "connect",
        "host": LOOPBACK,
        "port": server.connect,
        "threads": 2,
    }


@pytest.fixture(scope="class")
def dbt_profile_target(target: dict[str, object]) -> dict[str, object]:
    return target
