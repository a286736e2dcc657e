"""A Spark that is kept alive: who attaches to it, and when it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import reload
from pathlib import Path

import grpc
import pytest
from dbt_common.exceptions import DbtBaseException
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc

from dbt.adapters.deltawiden.spark.keep_alive import client
from dbt.adapters.deltawiden.spark.keep_alive.channel import server_problem
from dbt.adapters.deltawiden.spark.keep_alive.client import Attached, SparkIsUsed, attach
from dbt.adapters.deltawiden.spark.keep_alive.processes import wait_until_ended
from dbt.adapters.deltawiden.spark.keep_alive.session import open_kept, release_kept
from dbt.adapters.deltawiden.spark.keep_alive.settings import place
from dbt.adapters.deltawiden.spark.keep_alive.state import KeptSpark, SparkFolder, spark_folder
from dbt.adapters.deltawiden.spark.keep_alive.status import kept_text, stop_kept
from dbt.adapters.deltawiden.spark.start import SparkStart
from tests.functional import listeners

LONG = 300
ENOUGH = 30


@pytest.fixture
def kept(parameters: dict[str, str]) -> Iterator[Attached]:
    attached = attach(SparkStart.read(parameters), LONG)
    yield attached
    attached.use.end()


@pytest.fixture
def folder(parameters: dict[str, str]) -> SparkFolder:
    return spark_folder(place(SparkStart.read(parameters)), os.environ)


def ended(spark: KeptSpark) -> bool:
    return wait_until_ended([spark.keeper, spark.jvm], ENOUGH)


def wait_until(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + 2 * ENOUGH
    while not is_true():
        assert time.monotonic() < end, "this took too long"
        time.sleep(0.2)


def works(parameters: dict[str, str]) -> bool:
    connection = open_kept(SparkStart.read(parameters), LONG)
    try:
        connection.session.sql("create schema if not exists kept")
        connection.session.sql("create or replace table kept.t using delta as select 1 as n")
        return connection.session.table("kept.t").collect() == [(1,)]
    finally:
        connection.close()
        release_kept()


def test_a_second_command_attaches_to_the_spark_of_the_first(parameters, kept):
    again = attach(SparkStart.read(parameters), LONG)
    try:
        assert again.spark == kept.spark
        assert not again.is_new
        assert works(parameters)
    finally:
        again.use.end()


def test_the_sessions_have_the_settings_of_the_profile(parameters, kept):
    connection = open_kept(SparkStart.read(parameters), LONG)
    try:
        conf = connection.session.conf
        for key in ("spark.sql.ansi.enabled", "spark.sql.session.timeZone"):
            assert conf.get(key) == parameters[key]
        widening = "spark.databricks.delta.typeWidening.allowAutomaticWidening"
        assert conf.get(widening) == "same_family_type"
    finally:
        connection.close()
        release_kept()


def test_a_proxy_is_not_asked_for_it(parameters, kept, monkeypatch):
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("grpc_proxy", "http://127.0.0.1:1")
    assert server_problem(kept.spark.port, kept.spark.token, ENOUGH) is None
    assert works(parameters)


# Who can reach it


def test_no_argument_of_a_process_has_the_token(kept):
    for process in (kept.spark.keeper, kept.spark.jvm):
        arguments = Path(f"/proc/{process.pid}/cmdline").read_text()
        assert "kept" in arguments or "java" in arguments
        assert kept.spark.token not in arguments


def test_it_listens_on_this_machine_only(kept):
    lines = [line.split() for file in ("tcp", "tcp6") for line in _sockets(file)]
    # https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html: 0A is LISTEN.
    port = f"{kept.spark.port:04X}"
    (address,) = [row[1] for row in lines if row[3] == "0A" and row[1].endswith(f":{port}")]
    assert address.removesuffix(f":{port}").endswith("0100007F")  # 127.0.0.1


def _sockets(file: str) -> list[str]:
    return Path(f"/proc/net/{file}").read_text().splitlines()[1:]


def test_no_port_obeys_a_process_without_its_secret(kept):
    ports = {each.port for each in listeners.listeners(kept.spark.jvm.pid)}
    assert len(ports) >= 4
    assert all(each.is_loopback for each in listeners.listeners(kept.spark.jvm.pid))
    assert listeners.endpoints([*ports], orders=True) == {str(port): [] for port in ports}
    assert server_problem(kept.spark.port, kept.spark.token, 30) is None


def test_a_wrong_token_is_refused(kept):
    assert server_problem(kept.spark.port, kept.spark.token, 30) is None
    problem = server_problem(kept.spark.port, "0" * 64, 30)
    assert problem is not None
    assert problem.startswith("UNAUTHENTICATED")


def test_a_client_without_token_is_refused(kept):
    with grpc.insecure_channel(f"127.0.0.1:{kept.spark.port}") as channel:
        stub = base_pb2_grpc.SparkConnectServiceStub(channel)
        request = base_pb2.AnalyzePlanRequest(
            spark_version=base_pb2.AnalyzePlanRequest.SparkVersion()
        )
        with pytest.raises(grpc.RpcError) as raised:
            stub.AnalyzePlan(request, timeout=30)
    assert raised.value.code() == grpc.StatusCode.UNAUTHENTICATED


# What an earlier command leaves


def test_what_an_earlier_command_has_cached_is_forgotten(parameters):
    assert works(parameters)
    connection = open_kept(SparkStart.read(parameters), LONG)
    connection.session.sql("cache table kept.t")
    connection.session.sql("create global temporary view left as select 1 as n")
    connection.session.sql("set spark.sql.ansi.enabled = true")
    assert connection.session.catalog.isCached("kept.t")
    connection.close()
    release_kept()
    connection = open_kept(SparkStart.read(parameters), LONG)
    try:
        assert not connection.session.catalog.isCached("kept.t")
        connection.session.sql("create global temporary view left as select 2 as n")
        assert connection.session.conf.get("spark.sql.ansi.enabled") == "false"
    finally:
        connection.close()
        release_kept()


def test_a_function_runs_with_the_module_of_this_command(parameters, modules: Path):
    values = [_value(parameters, modules, number) for number in (1, 22)]
    assert values == [1, 22]


def _value(parameters: dict[str, str], modules: Path, number: int) -> int:
    (modules / "helper_of_user.py").write_text(f"def value():\n    return {number}\n")
    import helper_of_user
    from pyspark.sql.connect.functions import udf
    from pyspark.sql.types import IntegerType

    reload(helper_of_user)
    connection = open_kept(SparkStart.read(parameters), LONG)
    try:
        own = udf(lambda: helper_of_user.value(), IntegerType())
        return int(connection.session.range(1).select(own()).collect()[0][0])
    finally:
        connection.close()
        release_kept()


# A Spark that can't be used any more


def test_a_killed_spark_is_replaced(parameters, kept, folder):
    kept.spark.jvm.send(signal.SIGKILL)
    assert ended(kept.spark)
    assert folder.read() is None
    assert works(parameters)
    assert folder.read() != kept.spark


def test_spark_ends_if_the_process_that_would_end_it_is_killed(parameters, kept):
    kept.spark.keeper.send(signal.SIGKILL)
    assert ended(kept.spark)
    assert works(parameters)


def test_a_hung_spark_is_ended_and_replaced(parameters, kept, folder, monkeypatch):
    monkeypatch.setattr(client, "_PROBE_SECONDS_IF_USED", 3)
    kept.spark.jvm.send(signal.SIGSTOP)
    assert works(parameters)
    assert ended(kept.spark)
    replaced = folder.read()
    assert replaced is not None
    assert replaced.jvm != kept.spark.jvm


def test_a_spark_that_has_lost_its_executor_is_replaced(parameters):
    attached = attach(SparkStart.read({**parameters, "spark.authenticate": "false"}), LONG)
    try:
        ports = [each.port for each in listeners.listeners(attached.spark.jvm.pid)]
        found = listeners.endpoints(ports, orders=True)
        assert [*listeners.ENDPOINTS] in found.values()
    finally:
        attached.use.end()
    open_to_all = {**parameters, "spark.authenticate": "false"}
    assert "does not run a task: " in kept_text(SparkStart.read(open_to_all))
    assert works(open_to_all)
    assert ended(attached.spark)


# Python imports this module when it starts.
STOPS_ITS_CONTEXT = """
import signal
def stop(*_):
    from pyspark import SparkContext
    SparkContext._active_spark_context.stop()
signal.signal(signal.SIGUSR1, stop)
"""


@pytest.fixture
def stoppable(parameters: dict[str, str], modules: Path) -> Iterator[Attached]:
    """A Spark whose keeper stops its context if it gets SIGUSR1."""
    stop_kept(everywhere=True)
    module = modules / "sitecustomize.py"
    module.write_text(STOPS_ITS_CONTEXT)
    attached = attach(SparkStart.read(parameters), LONG)
    module.unlink()
    yield attached
    attached.use.end()


def test_a_spark_whose_context_was_stopped_is_replaced(parameters, stoppable):
    spark = stoppable.spark
    spark.keeper.send(signal.SIGUSR1)
    wait_until(lambda: server_problem(spark.port, spark.token, 10) is not None)
    stoppable.use.end()
    assert spark.is_running
    assert "does not run a task: " in kept_text(SparkStart.read(parameters))
    assert works(parameters)
    assert ended(spark)


def test_a_spark_whose_cores_are_busy_is_not_ended(parameters, kept):
    connection = open_kept(SparkStart.read(parameters), LONG)
    sleep = "java_method('java.lang.Thread', 'sleep', 15000L)"
    connection.execute(f"select * from range(0, 64, 1, 64) where {sleep} is not null")
    with ThreadPoolExecutor() as threads:
        running = threads.submit(connection.fetchall)
        time.sleep(3)
        assert server_problem(kept.spark.port, kept.spark.token, 3, is_busy=True) is None
        assert server_problem(kept.spark.port, kept.spark.token, 3) is not None
        connection.cancel()
        with pytest.raises(DbtBaseException):
            running.result()
    connection.close()
    release_kept()


def test_a_spark_without_memory_ends_and_is_replaced(parameters, kept):
    connection = open_kept(SparkStart.read(parameters), LONG)
    too_much = "select size(sequence(0L, id + 1000000000L)) from range(1)"
    connection.execute(too_much)
    with pytest.raises(DbtBaseException):
        connection.fetchall()
    assert ended(kept.spark)
    connection.close()
    release_kept()
    assert works(parameters)


WRITES = """
import json, sys
from dbt.adapters.deltawiden.spark.keep_alive.session import open_kept
from dbt.adapters.deltawiden.spark.start import SparkStart
session = open_kept(SparkStart.read(json.loads(sys.argv[1])), 300).session
session.sql("create schema if not exists kept")
session.sql("create or replace table kept.killed (n bigint) using delta")
print("writes", flush=True)
session.sql(
    "insert into kept.killed select id from range(0, 1, 1, 1) "
    "where java_method('java.lang.Thread', 'sleep', 15000L) != 'x'"
)
print("has written", flush=True)
"""


def test_no_command_attaches_beside_a_statement_of_a_killed_one(parameters, kept):
    command = [sys.executable, "-c", WRITES, json.dumps(parameters)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "writes\n"
        time.sleep(5)
        killed.kill()
        assert killed.stdout.readline() == ""
    with pytest.raises(SparkIsUsed, match=r"was killed.*another dbt command is using this Spark"):
        attach(SparkStart.read(parameters), LONG)
    kept.use.end()
    connection = open_kept(SparkStart.read(parameters), LONG)
    try:
        assert not kept.spark.is_running
        assert connection.session.table("kept.killed").collect() == []
    finally:
        connection.close()
        release_kept()


def test_other_settings_have_another_spark(parameters, kept, folder):
    other = {**parameters, "spark.driver.memory": "1100m"}
    with pytest.raises(SparkIsUsed, match="another dbt command is using it"):
        attach(SparkStart.read(other), LONG)
    assert "other settings" in kept_text(SparkStart.read(other))
    kept.use.end()
    attached = attach(SparkStart.read(other), LONG)
    attached.use.end()
    assert attached.is_new
    assert attached.spark.memory == "1100m"
    assert ended(kept.spark)


# When it ends


def test_it_ends_after_its_time_and_not_while_it_is_used(parameters, folder):
    attached = attach(SparkStart.read(parameters), 3)
    time.sleep(6)
    assert attached.spark.is_running
    assert "in use by a dbt command" in kept_text(SparkStart.read(parameters))
    attached.use.end()
    assert "unless it is used before" in kept_text(SparkStart.read(parameters))
    assert ended(attached.spark)
    assert folder.read() is None
    assert kept_text(SparkStart.read(parameters)) == "not running"


def test_a_clock_that_was_set_back_does_not_keep_it_alive(parameters, folder):
    attached = attach(SparkStart.read(parameters), 3)
    attached.use.end()
    tomorrow = time.time() + 86400
    os.utime(folder.path / "used", (tomorrow, tomorrow))
    assert time.strftime("%Y-%m-%d", time.localtime(tomorrow)) not in kept_text(
        SparkStart.read(parameters)
    )
    assert ended(attached.spark)


ATTACHES = """
import json, sys
from dbt.adapters.deltawiden.spark.keep_alive.client import attach
from dbt.adapters.deltawiden.spark.start import SparkStart
attached = attach(SparkStart.read(json.loads(sys.argv[1])), 300)
print(json.dumps([attached.spark.jvm.pid, attached.is_new]), flush=True)
sys.stdin.read()
"""


def attaching(parameters: dict[str, str]) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", ATTACHES, json.dumps(parameters)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_two_commands_at_once_start_one_spark_and_it_can_be_stopped(parameters, folder):
    stop_kept(everywhere=True)
    first, killed, second = (attaching(parameters) for _ in range(3))
    with first, second, killed:
        time.sleep(5)
        killed.kill()
        answers = [json.loads(each.stdout.readline()) for each in (first, second) if each.stdout]
        spark = folder.read()
        assert spark is not None
        assert [pid for pid, _ in answers] == [spark.jvm.pid] * 2
        assert sum(is_new for _, is_new in answers) <= 1
        (used,) = stop_kept(everywhere=False)
        assert "a dbt command is using it" in used.error
        first.communicate("")
        second.communicate("")
    (stopped,) = stop_kept(everywhere=False)
    assert (stopped.spark, stopped.error) == (spark, "")
    assert ended(spark)
    assert stop_kept(everywhere=True) == []


def test_a_spark_that_does_not_start_says_why(parameters):
    bad = {**parameters, "spark.driver.memory": "none"}
    with pytest.raises(DbtBaseException, match="Spark"):
        attach(SparkStart.read(bad), LONG)
    assert kept_text(SparkStart.read(bad)) == "not running"
