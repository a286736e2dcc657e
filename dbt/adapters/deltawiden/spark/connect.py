"""Connect to a Spark Connect server, with no JVM in dbt's process."""

import contextlib
import os
import socket
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import pyspark
from dbt.adapters.exceptions import FailedToConnectError
from dbt_common.exceptions import DbtConfigError
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.errors import error_text, whole_text
from dbt.adapters.deltawiden.spark.redaction import scrubbed
from dbt.adapters.deltawiden.spark.session_connection import (
    SessionConnection,
    errors_as_dbt_errors,
    silence_pyspark,
)
from dbt.adapters.deltawiden.spark.settings import TIME_ZONE, iceberg_settings, is_local, items
from dbt.adapters.deltawiden.spark.unsafe_settings import refuse_settings
from dbt.adapters.deltawiden.sql.versions import read_version
from dbt.adapters.deltawiden.warnings import warn_once

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

    def has_table(self, name: str) -> bool:
        """Return whether a name of a statement is that of a table or view."""
        with errors_as_dbt_errors():
            return self.session.catalog.tableExists(name)

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
            are set, and a warning names the others.
        token: a bearer token. It is only ever sent encrypted, unless the host is this machine.
        timeout: how long to wait for the server, in seconds.

    Raises:
        DbtConfigError: the packages that Spark Connect needs are not installed, or Spark is old.
        FailedToConnectError: no server answers at this address.
        DbtDatabaseError: the server refuses the session, or a value of a parameter.

    Source:
        https://spark.apache.org/docs/latest/spark-connect-overview.html and
        https://github.com/apache/spark/blob/master/sql/connect/docs/client-connection-string.md
    """
    builder = remote_builder("method: connect")
    if not _has_proxy(host):
        _check_reachable(host, port, timeout)
    options = {"token": token, "user_id": user, "use_ssl": "true" if use_ssl else None}
    given = "".join(f";{key}={quote(value, safe='')}" for key, value in options.items() if value)
    address = f"[{host}]" if ":" in host else host
    remote = builder.remote(f"sc://{address}:{port}/{given}")
    return ConnectConnection(
        create_session(remote, parameters, lambda new: refuse_old(pyspark.__version__, new.version))
    )


def refuse_old(client: str, server: str) -> None:
    """Refuse a version of Spark that gives a client another session without an error.

    Source:
        https://github.com/apache/spark/blob/v4.0.0/sql/connect/common/src/main/protobuf/spark/connect/base.proto:
        ``server_side_session_id`` is new in Spark 4.0.
    """
    if min(read_version(client), read_version(server)) < (4,):
        raise DbtConfigError(
            "method: connect needs Spark 4.0 or newer, because an older server replaces a session "
            "that it has forgotten by one without the profile's settings, and says nothing. The "
            f"server has Spark {server}, and the installed pyspark is {client}. Install a newer "
            "one, or use another method"
        )


def create_session(
    builder: Any, parameters: Mapping[str, str], prepare: Callable[[Any], None] = lambda _: None
) -> SparkSession:
    """Create a session on a server, with those parameters of a profile that can be set on it.

    ``prepare`` gets the session before its first statement: creating it sends no request. A value
    that the server refuses is a DbtDatabaseError.
    """
    silence_pyspark()
    for key, value in parameters.items():
        builder = builder.config(key, value)
    with errors_as_dbt_errors(), contextlib.ExitStack() as after_error:
        session: SparkSession = builder.create()
        _leave_open(session)
        # The client of an open session asks the server again, for minutes, when Python ends.
        after_error.callback(ConnectConnection(session).close)
        prepare(session)
        given_to_session = {row[0]: row[1] for row in session.sql("set").collect()}
        for key, value in parameters.items():
            if given_to_session.get(key) != value:
                _set(session, key, value)
        refuse_settings(given_to_session.get)
        for key, setting in iceberg_settings(given_to_session).items():
            session.conf.set(key, setting)
        master = given_to_session.get("spark.master", "")
        if TIME_ZONE not in given_to_session and not is_local(master):
            session.conf.set(TIME_ZONE, str(session.conf.get(TIME_ZONE)))
        after_error.pop_all()
    return session


def _set(session: SparkSession, key: str, value: str) -> None:
    """Set a setting, or warn if it is one of the server itself."""
    try:
        session.conf.set(key, value)
    except SPARK_ERRORS as error:
        if session.conf.isModifiable(key):
            raise
        warn_once(
            f"The session does not have {key} of server_side_parameters as the profile says. Set "
            "it where the server is started, and remove it from the profile. Spark's answer: "
            f"{scrubbed(error_text(whole_text(error)))}"
        )


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
            f"'pyspark[connect]=={pyspark.__version__}' ({error})"
        ) from error
    return RemoteSession.Builder()


def _has_proxy(host: str) -> bool:
    """Return whether the client asks a proxy for the server.

    Source:
        https://grpc.github.io/grpc/core/md_doc_environment_variables.html
    """
    proxies = map(os.environ.get, ("grpc_proxy", "https_proxy", "http_proxy"))
    exempt = next(filter(None, map(os.environ.get, ("no_grpc_proxy", "no_proxy"))), "")
    return any(proxies) and not any(host.endswith(end) for end in items(exempt))


def _check_reachable(host: str, port: int, timeout: float) -> None:
    # Without this check, the client retries for ten minutes.
    try:
        socket.create_connection((host, port), timeout).close()
    except OSError as error:
        raise FailedToConnectError(
            f"No Spark Connect server answers at {host}:{port} ({error}). The profile's host and "
            f"port say where it is; the port is {DEFAULT_PORT} unless the server was told another."
        ) from error
