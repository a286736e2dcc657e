"""Spark's own servers, from the classes in the PySpark package, on loopback."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyspark

WATCHED = Path(__file__).with_name("watched.py")
SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
CLASS = SUBMIT.with_name("spark-class")
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
LOOPBACK = "127.0.0.1"
THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
CONNECT_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"


@dataclass(frozen=True)
class Server:
    """A process with a Thrift server and a Spark Connect server over one metastore.

    Attributes:
        thrift, connect: the ports.
    """

    thrift: int
    connect: int


def metastore_in(folder: Path) -> dict[str, str]:
    """Return the settings of a server whose metastore and tables are in a folder of its own."""
    url = f"jdbc:derby:;databaseName={folder / 'metastore_db'};create=true"
    return {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": url,
    }


@contextlib.contextmanager
def running(
    folder: Path,
    settings: Mapping[str, str],
    jars: str,
    hive_settings: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """Run a server until the block or this process ends.

    Args:
        folder: the folder of its log.
        settings: Spark's settings.
        jars: Delta's jars, separated by commas.
        hive_settings: the Thrift server's settings, besides its address.
    """
    server = Server(free_port(), free_port())
    given = {
        **settings,
        "spark.plugins": CONNECT_PLUGIN,
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(server.connect),
    }
    command = [str(SUBMIT), "--class", THRIFT, "--jars", jars]
    # The Thrift server's class loader does not see --jars or --packages. Only Delta itself is on
    # the class path: its dependencies would come before Spark's own.
    seen = [jar for jar in jars.split(",") if Path(jar).name.startswith("io.delta_")]
    if class_path := given.pop("spark.driver.extraClassPath", None):
        seen.append(class_path)
    command += ["--driver-class-path", ":".join(seen)]
    for key, value in given.items():
        command += ["--conf", f"{key}={value}"]
    command += ["spark-internal"]
    # The server opens the port of its transport, and not the other one.
    address = {"port": server.thrift, "http.port": server.thrift, "bind.host": LOOPBACK}
    hive = {f"hive.server2.thrift.{key}": str(value) for key, value in address.items()}
    for key, value in {**hive, **(hive_settings or {})}.items():
        command += ["--hiveconf", f"{key}={value}"]
    with watched(command, folder, [server.thrift, server.connect]):
        yield server


@contextlib.contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """Run a standalone cluster until the block or this process ends. Return its master's URL.

    Args:
        folder: the folder of its logs and of the executors' files.
        workers: the number of workers with one core.
    """
    port = free_port()
    master = f"spark://{LOOPBACK}:{port}"
    common = ["--host", LOOPBACK, "--webui-port", "0"]
    with contextlib.ExitStack() as stack:
        command = [str(CLASS), MASTER, *common, "--port", str(port)]
        stack.enter_context(watched(command, folder, [port]))
        for number in range(workers):
            own, at = folder / f"worker_{number}", free_port()
            own.mkdir()
            command = [str(CLASS), WORKER, *common, "--port", str(at), "--work-dir", str(own)]
            command += ["--cores", "1", "--memory", "1536m", master]
            stack.enter_context(watched(command, own, [at]))
        yield master


@contextlib.contextmanager
def watched(command: list[str], folder: Path, ports: list[int]) -> Iterator[None]:
    """Run a command that listens on ports, until the block or this process ends."""
    log = folder / "server.log"
    # A server runs Python functions with the Python that has the packages of the tests.
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    with log.open("a") as output:
        process = subprocess.Popen(
            [sys.executable, str(WATCHED), *command],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        for port in ports:
            wait_for(port, process, log)
        yield
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=60)


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a process listens on a port."""
    end = time.monotonic() + 180
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), 1):
            return
        time.sleep(0.2)
    raise AssertionError(f"nothing listens at {port}:\n{log.read_text()[-5000:]}")


def free_port() -> int:
    """Find a free port."""
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        return int(found.getsockname()[1])
