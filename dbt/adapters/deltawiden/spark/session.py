"""Open the one PySpark session of a run, with the settings of its target."""

import contextlib
import contextvars
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from dbt_common.exceptions import DbtConfigError
from dbt_common.invocation import get_invocation_id
from pyspark import SparkContext
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.embedded import start_spark
from dbt.adapters.deltawiden.spark.failed_start import FailedStart
from dbt.adapters.deltawiden.spark.session_connection import silence_pyspark
from dbt.adapters.deltawiden.spark.settings import (
    CATALOG,
    CATALOG_SETTING,
    EXTENSION,
    TIME_ZONE,
    is_local,
)
from dbt.adapters.deltawiden.spark.start import SparkStart
from dbt.adapters.deltawiden.spark.target_settings import TargetSettings
from dbt.adapters.deltawiden.spark.unsafe_settings import refuse_settings

_lock = threading.Lock()
_current: "_Current | None" = None
_failed = FailedStart()


@dataclass
class _Current:
    """The session of the process.

    Attributes:
        applied: the parameters that are set now, and the dbt command that they were set for.
    """

    session: SparkSession
    settings: TargetSettings
    is_own: bool
    applied: tuple[Mapping[str, str], str] | None = None

    @property
    def is_running(self) -> bool:
        """Whether its Spark is the one that is running in this process."""
        return self.session.sparkContext is SparkContext._active_spark_context


def get_session(start: SparkStart) -> SparkSession:
    """Return the process's SparkSession with a target's settings, starting Spark if necessary.

    If another program of the process (a notebook) has created one, it is that session, with its
    temporary views; ``release_session`` restores that session's settings.

    Raises:
        SparkDidNotStart: as for ``start_spark``.
        DbtConfigError: the process's Spark was started with settings that this target can't use, or
            it has a setting with which values would be lost.
    """
    with _lock, _failed.raised_again(start):
        return _get_session(start)


def release_session() -> None:
    """Restore the settings of a session that another program created."""
    # A Spark that is just starting has the lock, and is dbt's own. A dbt command that ends early,
    # because of an error in the project or Ctrl-C, does not wait for it.
    if _current is None or _current.is_own:
        return
    with _lock:
        if _current is not None and _current.is_running and not _current.is_own:
            _current.settings.undo()
            _current.applied = None


def check_has_delta() -> None:
    """Refuse a session of another program without Delta's extension or a catalog for Delta."""
    if _current is None or _current.is_own:
        return
    conf = _current.session.conf
    extensions = conf.get("spark.sql.extensions", None) or ""
    if EXTENSION not in extensions and conf.get(CATALOG_SETTING, None) is None:
        raise DbtConfigError(
            "This process already has a SparkSession, which another program has started without "
            "Delta. Stop it before dbt runs (spark.stop()), so that dbt starts one with Delta, or "
            f"start it with Delta's jars, spark.sql.extensions = {EXTENSION} and "
            f"{CATALOG_SETTING} = {CATALOG}."
        )


def prestart_session(start: SparkStart) -> None:
    """Start Spark in the background, and return at once. ``get_session`` waits for the start."""
    # A daemon thread, because dbt may end before it needs Spark. dbt's log events read the context.
    run = contextvars.copy_context().run
    threading.Thread(target=run, args=(_prestart, start), daemon=True).start()


def _prestart(start: SparkStart) -> None:
    # The metastore is not started here: if dbt ended early, its database would stay incomplete.
    # A thread that asks for the session has the error, and can report it to the user.
    with contextlib.suppress(Exception):
        get_session(start)


def _get_session(start: SparkStart) -> SparkSession:
    global _current
    # dbt asks for the session at every model, and PySpark's builder would call the JVM each time.
    if _current is None or not _current.is_running:
        _current = _open_session(start)
    wanted = start.profile, get_invocation_id()
    if _current.applied != wanted:
        _current.settings.apply(start.profile)
        refuse_settings(partial(_current.session.conf.get, default=None))
        conf = _current.session.conf
        if not is_local(str(_current.session.sparkContext.master)):
            conf.set(TIME_ZONE, str(conf.get(TIME_ZONE)))
        _current.applied = wanted
    return _current.session


def _check_environment() -> None:
    """Refuse a variable that lets PySpark connect to a server: dbt starts a Spark of its own."""
    is_connect = os.environ.get("SPARK_API_MODE", "").lower() == "connect"
    named = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", *(["SPARK_API_MODE"] * is_connect))
    if variable := next(filter(os.environ.__contains__, named), None):
        raise DbtConfigError(
            f"The environment variable {variable} is set, with which PySpark connects to a Spark "
            "Connect server, and method: session of the profile starts a Spark inside dbt. Use "
            f"method: connect, or unset {variable}"
        )


def _open_session(start: SparkStart) -> _Current:
    silence_pyspark()
    is_own = SparkContext._active_spark_context is None
    if is_own:
        _check_environment()
        refuse_settings(start.given.get)
        archive = start_spark(start)
        if archive is not None:
            archive.make_at_exit()
    session = SparkSession.builder.getOrCreate()
    settings = TargetSettings(session, *((start.profile, start.outside) if is_own else ({}, {})))
    return _Current(session, settings, is_own)
