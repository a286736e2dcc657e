"""A YARN cluster on loopback: Hadoop's MiniYARNCluster, in a process of its own."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

# The ResourceManager and its web pages need them, and the minicluster does not name them.
NOT_NAMED = ["org.bouncycastle:bcpkix-jdk18on:1.78.1", "org.glassfish.jaxb:jaxb-runtime:2.3.9"]
HADOOP = "org.apache.hadoop:hadoop-"
# Spark's own jars have the classes that the cluster needs of these.
EXCLUDED = [
    *(HADOOP + name for name in ("client-api", "client-runtime", "annotations", "common", "hdfs")),
    HADOOP + "mapreduce-client-jobclient",
    "org.xerial.snappy:snappy-java",
]
RESOLVE = """
import sys
from pyspark.sql import SparkSession
settings = dict(argument.split("=") for argument in sys.argv[1:])
print(SparkSession.builder.config(map=settings).getOrCreate().conf.get("spark.jars"))
"""
QUEUE = "analytics"
SETTINGS = {
    "yarn.scheduler.capacity.root.queues": QUEUE,
    f"yarn.scheduler.capacity.root.{QUEUE}.capacity": "100",
    # Its addresses are free ports of localhost. Nothing listens elsewhere.
    "yarn.resourcemanager.bind-host": "127.0.0.1",
    "yarn.nodemanager.bind-host": "127.0.0.1",
    # A node has room for an application master and an executor of 1 GB, and not for two executors.
    "yarn.minicluster.yarn.nodemanager.resource.memory-mb": "2560",
    "yarn.scheduler.minimum-allocation-mb": "128",
    # The machine is not the cluster's own: its disks may be nearly full.
    "yarn.nodemanager.disk-health-checker.enable": "false",
}


@contextlib.contextmanager
def yarn_cluster(folder: Path, nodes: int) -> Iterator[Path]:
    """Run a YARN cluster until the block or this process ends.

    Args:
        folder: the folder of its log, of its containers and of its configuration.
        nodes: the number of node managers.

    Returns:
        The folder for ``HADOOP_CONF_DIR``.
    """
    with java(folder, minicluster_jars()) as jvm:
        configuration = jvm.org.apache.hadoop.yarn.conf.YarnConfiguration()
        for key, value in SETTINGS.items():
            configuration.set(key, value)
        cluster = jvm.org.apache.hadoop.yarn.server.MiniYARNCluster("nodes", nodes, 1, 1)
        cluster.init(configuration)
        cluster.start()
        try:
            assert cluster.waitForNodeManagersToConnect(60_000)
            yield write_configuration(jvm, cluster.getConfig(), folder / "conf")
        finally:
            cluster.stop()


@contextlib.contextmanager
def java(folder: Path, jars: list[str]) -> Iterator[Any]:
    """Run Java with jars and Spark's own, until the block or this process ends."""
    spark_jars = Path(pyspark.__file__).parent / "jars"
    # Hadoop's web pages need it: https://issues.apache.org/jira/browse/HADOOP-17177.
    options = ["--add-opens=java.base/java.lang=ALL-UNNAMED", "-Xmx512m"]
    with (folder / "cluster.log").open("w") as log:
        port, token, process = launch_gateway(
            classpath=os.pathsep.join([*jars, str(spark_jars / "*")]),
            javaopts=options,
            die_on_exit=True,
            enable_auth=True,
            redirect_stdout=log,
            redirect_stderr=log,
            cwd=folder,
            return_proc=True,
        )
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
        try:
            yield gateway.jvm
        finally:
            # Python's objects for Java's can outlive the gateway. They do not call it any more.
            gateway.shutdown()
            process.stdin.close()
            process.wait(timeout=60)


def minicluster_jars() -> list[str]:
    """Return the jars of Hadoop's minicluster, in the version of Spark's own Hadoop."""
    (client,) = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    settings = {
        "spark.master": "local[1]",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.jars.packages": ",".join([f"{HADOOP}client-minicluster:{version}", *NOT_NAMED]),
        "spark.jars.excludes": ",".join(EXCLUDED),
    }
    command = [sys.executable, "-c", RESOLVE, *(f"{key}={settings[key]}" for key in settings)]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [jar.removeprefix("file://") for jar in found.strip().split(",")]


def write_configuration(jvm: Any, configuration: Any, folder: Path) -> Path:
    """Write the configuration that a client of the cluster needs to a folder."""
    folder.mkdir()
    output = jvm.java.io.FileOutputStream(str(folder / "yarn-site.xml"))
    configuration.writeXml(output)
    output.close()
    return folder
