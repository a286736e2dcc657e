"""The process that runs a kept Spark, and ends it when nobody has used it for long enough.

It owns the JVM: PySpark starts a JVM that ends when the process that started it ends, so that none
is left if this process is killed.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.embedded import start_spark
from dbt.adapters.deltawiden.spark.keep_alive.processes import Process, wait_until_ended
from dbt.adapters.deltawiden.spark.keep_alive.settings import embedded_metastore, kept_start
from dbt.adapters.deltawiden.spark.keep_alive.state import (
    KeptSpark,
    LockIsHeld,
    SparkFolder,
    identities,
)
from dbt.adapters.deltawiden.spark.redaction import find_secrets, hide, hide_in_file
from dbt.adapters.deltawiden.spark.scala import spark_connect_port
from dbt.adapters.deltawiden.spark.start import SparkStart

TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
_SECONDS_TO_STOP = 10
_LONGEST_WAIT = 1.0


@dataclass(frozen=True)
class StartRequest:
    """What the process is asked for: one JSON document on its standard input.

    Attributes:
        lock: the file descriptor of the folder's lock, which is held until Spark has started.
        answer: the file descriptor of the pipe for the answer.
    """

    path: str
    parameters: Mapping[str, str]
    token: str
    key: str
    keep_alive: int
    lock: int
    answer: int


def main() -> None:
    """Start Spark, answer, and stay until it has to end."""
    request = StartRequest(**json.load(sys.stdin))
    folder = SparkFolder(Path(request.path))
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    # Only the environment of a process is as private as its memory; all users see its arguments.
    os.environ[TOKEN] = request.token
    hide(find_secrets(request.parameters, {"token": request.token}, None))
    start = kept_start(SparkStart.read(request.parameters, os.environ))
    folders = [os.getcwd(), *filter(None, [embedded_metastore(start.every)])]
    try:
        archive = start_spark(start, folder.spark_log)
        spark = _started(request, folders)
    except DbtRuntimeError as error:
        _answer(request, {"error": str(error.msg)})
        raise
    folder.write(spark)
    _answer(request, {"started": True})
    os.close(request.lock)
    try:
        _wait(folder, spark, request.keep_alive, folders, ended)
    finally:
        _stop(spark)
        hide_in_file(folder.spark_log)
        if archive is not None:
            archive.make_in_background()
        # PySpark's own functions for the end of the process would call the JVM.
        os._exit(0)


def _started(request: StartRequest, folders: Sequence[str]) -> KeptSpark:
    # The sessions of clients are copies of this one.
    session = SparkSession.builder.getOrCreate()
    gateway: Any = SparkContext._gateway
    return KeptSpark(
        keeper=Process.find(os.getpid()),
        jvm=Process.find(gateway.proc.pid),
        port=spark_connect_port(session),
        token=request.token,
        key=request.key,
        started=time.time(),
        folder=os.getcwd(),
        memory=session.sparkContext.getConf().get("spark.driver.memory", "1g") or "1g",
        folders=identities(folders),
    )


def _answer(request: StartRequest, answer: Mapping[str, Any]) -> None:
    # The command that asked for Spark may have been killed.
    with contextlib.suppress(OSError):
        os.write(request.answer, json.dumps(answer).encode())
        os.close(request.answer)


def _wait(
    folder: SparkFolder,
    spark: KeptSpark,
    keep_alive: int,
    folders: Sequence[str],
    ended: threading.Event,
) -> None:
    """Return when Spark has to end, and when nobody can attach to it any more."""
    last_use = _now()
    noted = None
    while not ended.wait(min(_LONGEST_WAIT, keep_alive / 5)):
        try:
            with folder.locked(seconds=0):
                # Another one has been started, or the folder was deleted.
                if folder.read() != spark:
                    return
                # A project that was moved can't use it, and the JVM has its metastore locked.
                is_lost = not spark.has_its_folders and not folder.is_used
                if is_lost or not spark.jvm.is_running:
                    folder.forget()
                    return
                # The first statement creates the metastore.
                found = {**identities(folders), **spark.folders}
                if found != spark.folders:
                    folder.write(replace(spark, folders=found))
                    spark = replace(spark, folders=found)
                if folder.is_used:
                    folder.note_use()
                stored = folder.last_use
                if stored != noted:
                    noted, last_use = stored, _now()
                keep_alive = stored[1] if stored is not None else keep_alive
                if _now() - last_use >= keep_alive:
                    folder.forget()
                    return
        except LockIsHeld:
            continue  # Somebody attaches to it now.
        except OSError:
            # A disk can be full, or a file system not answer, for a while: a run may go on.
            is_late = _now() - last_use >= keep_alive
            if is_late or folder.is_deleted or not spark.jvm.is_running:
                return


def _now() -> float:
    """Return seconds of a clock that nobody sets, and that also runs while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _stop(spark: KeptSpark) -> None:
    gateway: Any = SparkContext._gateway
    with contextlib.suppress(OSError):
        gateway.proc.stdin.close()
    if not wait_until_ended([spark.jvm], _SECONDS_TO_STOP):
        spark.jvm.send(signal.SIGKILL)
