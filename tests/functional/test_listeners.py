"""No port of a Spark that dbt starts obeys a process that has not its secret."""

import os
from pathlib import Path

import pytest
from pyspark import SparkContext, SparkFiles
from pyspark.sql import SparkSession

from tests.functional import listeners

# Py4J's request for Java's class java.lang.System.
PY4J_REQUEST = b"r\nu\njava.lang.System\ne\n"


@pytest.fixture
def pids(spark: SparkSession) -> list[int]:
    gateway = SparkContext._gateway
    return [os.getpid(), gateway.proc.pid]


def test_only_this_machine_reaches_the_ports(pids: list[int]):
    found = [each for pid in pids for each in listeners.listeners(pid)]
    assert len(found) >= 3
    assert all(each.is_loopback for each in found)


@pytest.mark.slow
def test_another_jvm_finds_no_endpoint_of_spark(pids: list[int]):
    ports = [each.port for pid in pids for each in listeners.listeners(pid)]
    assert listeners.endpoints(ports) == {str(port): [] for port in ports}


def test_another_process_gets_no_file_and_no_class(
    pids: list[int], spark: SparkSession, tmp_path: Path
):
    file = tmp_path / "secret.txt"
    file.write_text("the rows of the shop")
    spark.sparkContext.addFile(str(file))
    assert Path(SparkFiles.get("secret.txt")).read_text() == "the rows of the shop"
    for each in (each for pid in pids for each in listeners.listeners(pid)):
        refused = listeners.answer(each.port, listeners.file_request("/files/secret.txt"))
        assert b"rows of the shop" not in refused
        assert b"was not found" not in refused, "the file server has looked for it"
        assert not listeners.answer(each.port, PY4J_REQUEST).startswith(b"!y")
