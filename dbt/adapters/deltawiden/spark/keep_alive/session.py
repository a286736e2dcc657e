"""The kept Spark that this process uses, and sessions on it."""

import contextlib
import contextvars
import os
import threading
from functools import partial

from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.connect import ConnectConnection, create_session
from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.failed_start import FailedStart
from dbt.adapters.deltawiden.spark.keep_alive.channel import limit_retries, local_builder
from dbt.adapters.deltawiden.spark.keep_alive.client import Attached, attach
from dbt.adapters.deltawiden.spark.redaction import hide
from dbt.adapters.deltawiden.spark.running import RunningSpark, note_running
from dbt.adapters.deltawiden.spark.start import SparkStart

_Asked = tuple[SparkStart, str, int]  # start, working folder, keep_alive

_lock = threading.Lock()
_release_lock = threading.Lock()
_current: tuple[_Asked, Attached] | None = None
_failed = FailedStart()
_released = 0  # how many times


def open_kept(start: SparkStart, keep_alive: int) -> ConnectConnection:
    """Open a session of its own on the kept Spark, starting it if necessary: ``attach``."""
    asked = _asked(start, keep_alive)
    with _lock, _failed.raised_again(asked):
        attached = _attached(asked)
        if not attached.use.has_sessions:
            connection = _open(attached)
            attached.use.note_sessions(partial(_forget_earlier_runs, connection.session))
            return connection
    return _open(attached)


def prestart_kept(start: SparkStart, keep_alive: int) -> None:
    """Attach to the kept Spark in the background, starting it if necessary."""
    # A daemon thread, because dbt may end before it needs Spark. dbt's log events read the context.
    run = contextvars.copy_context().run
    arguments = (_prestart, _asked(start, keep_alive), _released)
    threading.Thread(target=run, args=arguments, daemon=True).start()


def release_kept() -> None:
    """End this process's use of the kept Spark.

    If Spark is just starting in the background, its use ends when it has started: a dbt command
    that ends early, because of an error in the project or Ctrl-C, does not wait for it.
    """
    global _released
    with _release_lock:
        _released += 1
        is_free = _lock.acquire(blocking=False)
    if is_free:
        try:
            _end_use()
        finally:
            _lock.release()


def _end_use() -> None:
    global _current
    if _current is not None:
        _current[1].use.end()
        _current = None


def _asked(start: SparkStart, keep_alive: int) -> _Asked:
    return start, os.getcwd(), keep_alive


def _prestart(asked: _Asked, released: int) -> None:
    _lock.acquire()
    try:
        # A thread that asks for the session has the error, and can report it to the user.
        with contextlib.suppress(Exception), _failed.raised_again(asked):
            _attached(asked)
    finally:
        with _release_lock:
            if released != _released:
                _end_use()
            _lock.release()


def _attached(asked: _Asked) -> Attached:
    global _current
    if _current is not None:
        if _current[0] == asked and _current[1].spark.is_running:
            return _current[1]
        _end_use()
    start, _, keep_alive = asked
    attached = attach(start, keep_alive)
    hide([attached.spark.token])
    _current = asked, attached
    spark = attached.spark
    note_running(RunningSpark(spark.jvm.pid, attached.log, lambda: not spark.jvm.is_running))
    what = "is started, and kept alive" if attached.is_new else "was kept alive"
    logger.debug(f"Spark {what}: process {attached.spark.jvm.pid}")
    return attached


def _open(attached: Attached) -> ConnectConnection:
    spark = attached.spark
    # Spark was started with the parameters, so that each session has them.
    builder = local_builder(spark.port, spark.token)
    return ConnectConnection(create_session(builder, {}, limit_retries))


def _forget_earlier_runs(session: SparkSession) -> None:
    """Remove what earlier runs have left in Spark's memory, and that all sessions share.

    A cached table of an earlier run could have rows that its files do not have any more.
    """
    with contextlib.suppress(*SPARK_ERRORS):
        session.catalog.clearCache()
        for view in session.catalog.listTables("global_temp"):
            if view.tableType == "TEMPORARY" and view.namespace == ["global_temp"]:
                session.catalog.dropGlobalTempView(view.name)
