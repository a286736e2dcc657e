"""Connect to a Spark Connect server, with no JVM in dbt's process."""

import contextlib
import socket
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from dbt.adapters.exceptions import FailedToConnectError
from dbt_common.exceptions import DbtConfigError
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.session_connection import (
    SessionConnection,
    errors_as_dbt_errors,
    hush_pyspark,
)
from dbt.adapters.deltawiden.spark.settings import iceberg_settings
from dbt.adapters.deltawiden.spark.unsafe_settings import refuse_settings

DEFAULT_PORT = 15002


class ConnectConnection(SessionConnection):
    """A connection that has its own session on the server."""

    def describe_jobs(self, name: str | None) -> None:
        """Tag the jobs that this thread starts with a name, which Spark's UI shows.

        A server of Spark Connect describes a job by the request, and nobody else can.

        Source:
            https://spark.apache.org/docs/latest/api/python/reference/pyspark.sql/api/pyspark.sql.SparkSession.addTag.html
        """
        session: Any = self.session
        session.clearTags()
        if name is not None:
            session.addTag(name.replace(",", " "))  # A tag can't contain a comma.

    def use_copy(self) -> None:
        """Do nothing: no other connection has this session."""

    def cancel(self) -> None:
        """Cancel the statements that are running in this session."""
        session: Any = self.session
        with contextlib.suppress(*SPARK_ERRORS):
            session.interruptAll()

    def close(self) -> None:
        """Release the session on the server."""
        super().close()
        session: Any = self.session
        with contextlib.suppress(*SPARK_ERRORS):
            session.stop()
            type(session.client).close(session.client)


def open_connect(
    host: str,
    port: int,
    parameters: Mapping[str, str],
    token: str | None = None,
    user: str | None = None,
    use_ssl: bool = False,
    timeout: float = 10,
) -> ConnectConnection:
    """Open a session on a Spark Connect server.

    Args:
        parameters: ``server_side_parameters`` of the profile. Those that can be set on a session
            are set.
        token: a bearer token. It is only ever sent encrypted, unless the host is this machine.
        timeout: how long to wait for the server, in seconds.

    Raises:
        DbtConfigError: the packages that Spark Connect needs are not installed.
        FailedToConnectError: no server answers at this address.
        DbtDatabaseError: the server refuses the session.

    Source:
        https://spark.apache.org/docs/latest/spark-connect-overview.html and
        https://github.com/apache/spark/blob/master/sql/connect/docs/client-connection-string.md
    """
    builder = remote_builder("method: connect")
    _check_reachable(host, port, timeout)
    options = {"token": token, "user_id": user, "use_ssl": "true" if use_ssl else None}
    given = "".join(f";{key}={quote(value, safe='')}" for key, value in options.items() if value)
    builder = builder.remote(f"sc://{host}:{port}/{given}")
    return ConnectConnection(create_session(builder, parameters))


def create_session(
    builder: Any, parameters: Mapping[str, str], prepare: Callable[[Any], None] = lambda _: None
) -> SparkSession:
    """Create a session on a server, with those parameters of a profile that can be set on it.

    ``prepare`` has it before its first statement.
    """
    hush_pyspark()
    for key, value in parameters.items():
        builder = builder.config(key, value)
    with errors_as_dbt_errors():
        session: SparkSession = builder.create()
        _leave_open(session)
        prepare(session)
        # Creating the session sends no request to the server. This is the first one.
        given_to_session = {row[0]: row[1] for row in session.sql("set").collect()}
        refuse_settings(given_to_session.get)
        for key, setting in iceberg_settings(given_to_session).items():
            session.conf.set(key, setting)
    return session


def _leave_open(session: Any) -> None:
    """Let only ``ConnectConnection.close`` close the client of a session.

    PySpark also closes it when Python collects the session as garbage. If that happens while the
    same thread gives work to the client's thread pool, the thread waits forever for a lock that
    it has itself.
    """
    session.client.close = lambda: None


def remote_builder(needed_by: str) -> Any:
    """Return a builder of Spark Connect sessions. A DbtConfigError says which package it lacks."""
    try:
        # Not pyspark.sql.SparkSession: it builds a classic session in a process that has one.
        from pyspark.sql.connect.session import SparkSession as RemoteSession
    except ImportError as error:
        raise DbtConfigError(
            f"{needed_by} needs packages that are not installed: pip install "
            f"'dbt-deltawiden[connect]' ({error})"
        ) from error
    return RemoteSession.Builder()


def _check_reachable(host: str, port: int, timeout: float) -> None:
    # Without this check, the client retries for ten minutes.
    try:
        socket.create_connection((host, port), timeout).close()
    except OSError as error:
        raise FailedToConnectError(
            f"No Spark Connect server answers at {host}:{port} ({error}). The profile's host and "
            f"port say where it is; the port is {DEFAULT_PORT} unless the server was told another."
        ) from error
