"""A Thrift server that speaks HTTP over TLS at the address that dbt-spark's `http` opens."""

import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.server import LOOPBACK, Server

ORGANIZATION = "0"
# Over HTTP, the server listens on every address, whatever hive.server2.thrift.bind.host is, and
# takes any token. Only who knows the path can use it.
CLUSTER = secrets.token_hex(16)
PASSWORD = "changeit"


@pytest.fixture(scope="session")
def keystore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A keystore with a key for the loopback address."""
    store = tmp_path_factory.mktemp("tls") / "keystore.p12"
    keytool(
        store, "-genkeypair", "-keyalg", "RSA", "-dname", "CN=spark", "-ext", f"san=ip:{LOOPBACK}"
    )
    return store


@pytest.fixture(scope="session", autouse=True)
def trusted(keystore: Path) -> Iterator[Path]:
    """The server's certificate, which Python trusts instead of the system's authorities.

    dbt-spark gives its client no certificates, so the client uses Python's defaults.
    """
    certificate = keystore.with_name("certificate.pem")
    keytool(keystore, "-exportcert", "-rfc", "-file", str(certificate))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(certificate))
        yield certificate


@pytest.fixture(scope="session")
def hive_settings(keystore: Path) -> dict[str, str]:
    return {
        "hive.server2.transport.mode": "http",
        "hive.server2.thrift.http.path": f"sql/protocolv1/o/{ORGANIZATION}/{CLUSTER}",
        "hive.server2.use.SSL": "true",
        "hive.server2.keystore.path": str(keystore),
        "hive.server2.keystore.password": PASSWORD,
    }


@pytest.fixture(scope="class")
def dbt_profile_target(server: Server) -> dict[str, object]:
    return {
        "type": "deltawiden",
        "method": "http",
        "host": LOOPBACK,
        "port": server.thrift,
        "organization": ORGANIZATION,
        "cluster": CLUSTER,
        "token": "of-nobody",
        "threads": 2,
        "poll_interval": 0,
    }


def keytool(store: Path, *arguments: str) -> None:
    """Run the keytool of the JDK on a keystore."""
    command = ["keytool", *arguments, "-alias", "spark", "-keystore", str(store)]
    subprocess.run([*command, "-storepass", PASSWORD], check=True, capture_output=True)
