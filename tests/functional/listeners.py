"""The ports on which a process listens, and what they answer to a process without their secrets.

python listeners.py PORTS ORDERS

PORTS is a JSON list. A JVM of Spark's own classes asks each port for Spark's RPC endpoints. With
ORDERS, it then sends Spark the order to stop its executor. What is printed is a JSON document: the
endpoints that were found on each port, and on a port of this JVM's own that demands no secret.
"""

import json
import os
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

LISTEN = "0A"
EXECUTOR = "LocalSchedulerBackendEndpoint"
ENDPOINTS = (EXECUTOR, "BlockManagerMaster")
EVERY_RPC = "endpoint-verifier"
OWN = "own"


@dataclass(frozen=True)
class Listener:
    """A port on which a process listens."""

    is_loopback: bool
    port: int


def listeners(pid: int) -> list[Listener]:
    """Return the ports on which a process listens."""
    sockets = set()
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            sockets.add(os.readlink(file))
    tables = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    lines = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    # https://www.kernel.org/doc/Documentation/networking/proc_net_tcp.txt
    return [
        _listener(line[1])
        for line in lines
        if line[3] == LISTEN and f"socket:[{line[9]}]" in sockets
    ]


def _listener(text: str) -> Listener:
    address, _, port = text.partition(":")
    # The bytes of an address are in the order of the machine. ::ffff:127.0.0.1 is 127.0.0.1.
    is_loopback = address[-8:] == "0100007F" and address[:-8].strip("0") in ("", "FFFF")
    return Listener(is_loopback, int(port, 16))


def answer(port: int, request: bytes) -> bytes:
    """Return the beginning of what a port answers to a request, and nothing if it does not."""
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.settimeout(3)
        connection.sendall(request)
        with suppress(OSError):
            return connection.recv(4096)
    return b""


def file_request(path: str) -> bytes:
    """Return the request for a file of Spark's file server, in the format of Spark's network."""
    name = path.encode()
    frame = struct.pack(">Bi", 6, len(name)) + name  # StreamRequest
    return struct.pack(">q", 8 + len(frame)) + frame


def endpoints(ports: list[int], orders: bool = False) -> dict[str, list[str]]:
    """Return the endpoints of Spark's RPC that another process finds on ports.

    Args:
        orders: whether it stops the executor of a Spark that it finds.
    """
    # It knows neither the token of a gateway nor the secrets of a profile.
    own = {k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK_", "SPARK_"))}
    command = [sys.executable, __file__, json.dumps(ports), *["orders"][: int(orders)]]
    asked = subprocess.run(command, capture_output=True, text=True, check=True, env=own)
    found: dict[str, list[str]] = json.loads(asked.stdout.splitlines()[-1])
    assert found.pop(OWN) == [EVERY_RPC]
    return found


def main(ports: list[int], orders: bool) -> None:
    """Print what Spark's RPC answers on each port."""
    gateway = launch_gateway(SparkConf(loadDefaults=False).set("spark.driver.memory", "512m"))
    spark = gateway.jvm.org.apache.spark
    conf = spark.SparkConf(False)
    for timeout in ("rpc.lookupTimeout", "rpc.askTimeout", "network.timeout"):
        conf.set(f"spark.{timeout}", "5s")
    nothing = _scala_object(gateway, "scala.None")
    secret_file = _scala_object(gateway, "org.apache.spark.internal.config.package")
    manager = spark.SecurityManager(conf, nothing, secret_file.AUTH_SECRET_FILE())
    rpc = _scala_object(gateway, "org.apache.spark.rpc.RpcEnv")
    server = rpc.create("open", "127.0.0.1", 0, conf, manager, False)
    client = rpc.create("stranger", "127.0.0.1", 0, conf, manager, True)
    own = server.address().port()
    # The first request of a JVM can take long.
    tries = (_found(spark, client, own, [EVERY_RPC]) for _ in range(10))
    found: dict[str, list[str]] = {OWN: next(filter(None, tries), [])}
    for port in ports:
        found[str(port)] = _found(spark, client, port, ENDPOINTS)
        if orders and EXECUTOR in found[str(port)]:
            address = spark.rpc.RpcAddress("127.0.0.1", port)
            stop = _scala_object(gateway, "org.apache.spark.scheduler.local.StopExecutor")
            any_class = _scala_object(gateway, "scala.reflect.ClassTag").Any()
            client.setupEndpointRef(address, EXECUTOR).askSync(stop, any_class)
    print(json.dumps(found))
    gateway.shutdown()


def _found(spark: Any, client: Any, port: int, endpoints: Any) -> list[str]:
    found = []
    for endpoint in endpoints:
        with suppress(Py4JError):
            client.setupEndpointRef(spark.rpc.RpcAddress("127.0.0.1", port), endpoint)
            found.append(endpoint)
    return found


def _scala_object(gateway: Any, name: str) -> Any:
    loader = gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    cls = gateway.jvm.java.lang.Class.forName(f"{name}$", True, loader)
    return cls.getField("MODULE$").get(None)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), len(sys.argv) > 2)
