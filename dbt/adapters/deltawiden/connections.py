"""Open connections to the Spark of a profile, and run statements on them."""

import contextlib
import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import agate
from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.credentials import (
    ANSI,
    FOR_SESSION,
    ConnectionMethod,
    DeltaWidenCredentials,
    project_dir,
)
from dbt.adapters.deltawiden.delta.table_snapshot import REDACTED
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.connect import ConnectConnection, open_connect
from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.errors import TIMED_OUT, error_text, has_java_stack
from dbt.adapters.deltawiden.spark.keep_alive.session import open_kept, release_kept
from dbt.adapters.deltawiden.spark.python_models import release_functions
from dbt.adapters.deltawiden.spark.redaction import scrubbed
from dbt.adapters.deltawiden.spark.running import end_text
from dbt.adapters.deltawiden.spark.session import get_session, release_session
from dbt.adapters.deltawiden.spark.session_connection import SessionConnection
from dbt.adapters.deltawiden.spark.settings import TIME_ZONE
from dbt.adapters.deltawiden.spark.storage_folder import (
    WAREHOUSE,
    hide_from_git,
    new_folders,
    warn_of_a_second_driver,
    warn_of_other_folders,
)
from dbt.adapters.deltawiden.spark.unsafe_settings import (
    check_reset,
    check_statement,
    refuse_settings,
    warn_of_filters,
)
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.queries import GAP, reads_only
from dbt.adapters.deltawiden.warnings import warn_once

# PyHive quotes a text in such a way that Spark still substitutes the `${...}` in it.
_PYHIVE_METHODS = (ConnectionMethod.THRIFT, ConnectionMethod.HTTP)

# dbt's name for the connection of a command, on which it runs the hooks of `on-run-start`.
_COMMAND_CONNECTION = "master"
_CREATES_TEMPORARY = r"create\s+(?:or\s+replace\s+)?temp(?:orary)?\b"
# What changes nothing but the session. A session of Spark Connect is only its connection's, and dbt
# closes a connection after each node, so what the hooks of a command do is repeated in the others.
# A variable is not: its value would be computed again.
_SESSION_STATEMENT = re.compile(
    rf"{GAP}*(?:{_CREATES_TEMPORARY}|(?:reset|use|set(?!\s+var(?:iable)?\b))\b)",
    re.IGNORECASE | re.DOTALL,
)
_DROP = re.compile(
    rf"{GAP}*drop\s+(?:temp(?:orary)?\s+)?(view|function)\s+(?:if\s+exists\s+)?"
    rf"(\S+?)(?:{GAP}|;)*\Z",
    re.IGNORECASE | re.DOTALL,
)
_VIEW = re.compile(
    rf"{GAP}*{_CREATES_TEMPORARY}\s+view\s+(?:if\s+not\s+exists\s+)?([^\s(]+)",
    re.IGNORECASE | re.DOTALL,
)
_repeated: list[str] = []

# What changes a session, except for the adapter's own views. SET with a name alone only reads.
_CHANGES_SESSION = re.compile(
    rf"{GAP}*(?:{_CREATES_TEMPORARY}(?!\s+view\s+\S*__dbt_)"
    r"|(?:reset|use|declare|set(?!\s+`[^`]+`\s*(?:/\*|$)))\b)",
    re.IGNORECASE | re.DOTALL,
)
# By the name of a connection. Each batch of a node opens one, and dbt runs the hooks before the
# first batch only. The copy of the command is for all of its nodes.
_copies: dict[str | None, SparkSession] = {}
_after_command = contextlib.ExitStack()
# Those that Spark makes in this command.
_new_folders: set[str] = set()


def _repeat(sql: str) -> None:
    """Remember a statement of the command for the sessions of its nodes, or forget another one."""
    if dropped := _DROP.match(sql):
        created = re.compile(rf"\b{dropped[1]}\s+{re.escape(dropped[2])}(?![\w.])", re.IGNORECASE)
        _repeated[:] = [statement for statement in _repeated if not created.search(statement)]
    elif _SESSION_STATEMENT.match(sql):
        _repeated.append(sql)


def _run_repeated(handle: ConnectConnection) -> None:
    """Run again what the command's own connection ran. dbt closes no handle that was not opened."""
    try:
        for statement in _repeated:
            _run_again(handle, statement)
    except BaseException:
        handle.close()
        raise


def _run_again(handle: ConnectConnection, sql: str) -> None:
    """Run a statement of the command again. It can create a view that is not valid for a moment.

    Then it fails only what reads the view, if that can't read a table with its name instead.
    """
    try:
        handle.cursor().execute(sql)
    except DbtDatabaseError as error:
        view = _VIEW.match(sql)
        if view is None or handle.has_table(view[1]):
            raise
        logger.debug(f"The view {view[1]} is not in this session: {error.msg}")


class DeltaWidenConnectionManager(SparkConnectionManager):
    """dbt-spark's connection manager, extended by sessions and clear errors."""

    TYPE = "deltawiden"

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:
        """Raise an error of Spark as a DbtDatabaseError with Spark's condition and message."""
        try:
            yield
        except DbtRuntimeError as error:
            logger.debug(f"Error while running:\n{sql}")
            if TIMED_OUT in str(error.msg):
                # dbt-spark lets it run on, and it could still commit.
                with contextlib.suppress(Exception):
                    self.get_thread_connection().handle.cancel()
            # The errors that dbt-spark raises contain the server's whole answer.
            if not has_java_stack(str(error.msg)):
                error.msg = scrubbed(error.msg)
                raise
            logger.debug(str(error.msg))
            raise DbtDatabaseError(scrubbed(error_text(str(error.msg)))) from error
        except Exception as error:
            logger.debug(f"Error while running:\n{sql}")
            logger.debug(str(error))
            text = end_text(error) or scrubbed(error_text(_server_message(error)))
            raise DbtDatabaseError(text) from error

    def add_query(
        self,
        sql: str,
        auto_begin: bool = True,
        bindings: Sequence[Any] | None = None,
        *arguments: Any,
        **options: Any,
    ) -> tuple[Connection, Any]:
        """Run a statement.

        Raises:
            DbtDatabaseError: Spark or Delta refused the statement.
            DbtConfigError: it sets a setting with which values would be lost.
        """
        check_statement(sql)
        used = self.get_thread_connection()
        if used.credentials.method != ConnectionMethod.SESSION:
            check_reset(sql)
        if _CHANGES_SESSION.match(sql):
            _use_copy(used)
        if used.credentials.method in _PYHIVE_METHODS:
            with self.exception_handler(sql):
                _retry_a_read_only(used, sql)
            if bindings is not None:
                sql, bindings = sql % tuple(literal(value) for value in bindings), None
        connection, cursor = super().add_query(sql, auto_begin, bindings, *arguments, **options)
        if connection.name == _COMMAND_CONNECTION:
            _repeat(sql)
        return connection, cursor

    def execute(
        self, sql: str, auto_begin: bool = False, fetch: bool = False, limit: int | None = None
    ) -> tuple[AdapterResponse, agate.Table]:
        """Run a statement, even a query that nobody reads: a hook can be meant to fail."""
        result: tuple[AdapterResponse, agate.Table] = super().execute(sql, auto_begin, fetch, limit)
        handle = self.get_thread_connection().handle
        if not fetch and isinstance(handle, SessionConnection) and reads_only(sql):
            with self.exception_handler(sql):
                handle.run_unread()
        return result

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection: a SparkSession, or a connection of dbt-spark.

        Raises:
            SparkDidNotStart: the embedded Spark could not be started.
            FailedToConnectError: the server could not be reached.
            DbtConfigError: the session has a setting with which values would be lost.
        """
        credentials = connection.credentials
        warn_of_filters(credentials.given_settings)
        if connection.state == ConnectionState.OPEN or not credentials.has_session:
            return _open_server(super().open, connection)
        connection.handle = handle = _open_session(credentials)
        handle.of_command = _copies.get(_COMMAND_CONNECTION, handle.session)
        handle.session = _copies.get(connection.name, handle.of_command)
        if isinstance(handle, ConnectConnection):
            _run_repeated(handle)
        connection.state = ConnectionState.OPEN
        _describe_jobs(connection, connection.name)
        return connection

    def set_connection_name(self, name: str | None = None) -> Connection:
        """Name the thread's connection, and its jobs in Spark's UI, after the node that uses it."""
        connection: Connection = super().set_connection_name(name)
        if connection.state == ConnectionState.OPEN:
            _describe_jobs(connection, connection.name)
        return connection

    @classmethod
    def close(cls, connection: Connection) -> Connection:
        """Close a connection. What the thread runs after it is not the node's any more."""
        if connection.state == ConnectionState.OPEN:
            _describe_jobs(connection, None)
        closed: Connection = super().close(connection)
        return closed

    @classmethod
    def _rollback_handle(cls, connection: Connection) -> None:
        """Do nothing: Spark has no transactions.

        dbt asks for the handle to roll back, which opens a connection if there is none yet. It does
        so at the end of each command, for a connection that has run no statement.
        """

    def check_location(self, location: str) -> None:
        """Warn if a folder for tables is on S3, and the driver that writes to it is dbt's own."""
        connection = self.get_thread_connection()
        if connection.credentials.method == ConnectionMethod.SESSION:
            _warn_of_a_second_driver(connection.handle, location)

    def cleanup_all(self) -> None:
        """Close all connections. dbt calls this at the end of a command."""
        super().cleanup_all()
        _repeated.clear()
        _copies.clear()
        _after_command.close()
        _checked.clear()
        hide_from_git(_new_folders)
        _new_folders.clear()
        release_functions()
        release_session()
        release_kept()


def _retry_a_read_only(connection: Connection, sql: str) -> None:
    """Let dbt-spark run a statement again only if it reads.

    If the connection is lost while dbt-spark asks for the state of a statement, it runs it again
    (``query_retries``). The server can still be running the first one, so a write would be twice in
    the table.
    """
    retries = connection.credentials.query_retries
    connection.handle.query_retries = retries if reads_only(sql) else 0


def _open_server(open_it: Callable[[Connection], Connection], connection: Connection) -> Connection:
    try:
        opened = open_it(connection)
    except DbtRuntimeError as error:
        error.msg = scrubbed(error.msg)  # A driver's error can contain its whole configuration.
        raise
    _check_settings(opened)
    return opened


# The servers whose sessions have been checked, and whether each session has to set its time zone.
# dbt opens a connection for each node.
_checked: dict[tuple[Any, ...], bool] = {}


def _check_settings(connection: Connection) -> None:
    """Refuse settings of a server's sessions with which values would be lost, once in a command.

    Each session then sets its time zone, if the server has the default: see ``TIME_ZONE``.
    """
    credentials = connection.credentials
    server = (
        credentials.unique_field,
        credentials.port,
        *credentials.server_side_parameters.items(),
    )
    # A SQL warehouse has no such settings.
    if credentials.endpoint is not None:
        return
    cursor = connection.handle.cursor()
    if server not in _checked:
        cursor.execute("set")
        settings = {str(row[0]): str(row[1]) for row in cursor.fetchall()}
        refuse_settings(settings.get)
        if credentials.method in _PYHIVE_METHODS:
            _warn_of_missing(credentials, settings, cursor)
        _checked[server] = TIME_ZONE not in settings
    if _checked[server]:
        # A session that other connections share can have another time zone by now.
        cursor.execute("select current_timezone()")
        cursor.execute(f"set {TIME_ZONE}={cursor.fetchall()[0][0]}")


def _warn_of_missing(
    credentials: DeltaWidenCredentials, settings: Mapping[str, str], cursor: Any
) -> None:
    """Warn of the settings of the profile that a session of the server does not have."""
    given = credentials.server_side_parameters
    # dbt-spark adds the ANSI mode to each profile.
    missing = [
        key
        for key, value in given.items()
        if key.startswith("spark.") and settings.get(key) not in (value, REDACTED)
        if (key, value) != (ANSI, "false") and _shown(cursor, key) != value
    ]
    if missing:
        warn_once(
            f"The session does not have {', '.join(missing)} of server_side_parameters as the "
            "profile says: a Thrift server gives its sessions only the settings whose names begin "
            f"with {FOR_SESSION}. Add that to names that begin with spark.sql or spark.databricks. "
            "Set the others where the server is started, and remove them from the profile. If the "
            "server then refuses the session, the setting is one of these others"
        )


def _shown(cursor: Any, key: str) -> str:
    """Return the value of a setting that may not be set: Spark then shows its default."""
    try:
        cursor.execute(f"set {quote(key)}")
        return str(cursor.fetchall()[0][1])
    except Exception as error:  # A gateway can refuse to show it.
        logger.debug(f"{key} is not shown: {error}")
        return ""


def _describe_jobs(connection: Connection, name: str | None) -> None:
    """Show a node's name as the description of the jobs of a connection, if it has a session."""
    # A Thrift server describes a job by its statement, and dbt's comment in it has the node's name.
    handle = connection.handle
    if isinstance(handle, SessionConnection):
        # What Spark's UI shows must not stop a run. A Spark that was stopped has no context.
        with contextlib.suppress(*SPARK_ERRORS, AttributeError):
            handle.describe_jobs(name)


def _use_copy(connection: Connection) -> None:
    """Let what a node or a command changes of its session end with it, and no other one see it."""
    handle = connection.handle
    if isinstance(handle, SessionConnection) and handle.needs_copy(_copies.get(connection.name)):
        handle.use_copy()
        # A session of Spark Connect is no copy, and ends with its connection.
        if handle.session is not handle.shared:
            _copies[connection.name] = handle.session
            if connection.name == _COMMAND_CONNECTION:
                _after_command.enter_context(handle.as_session_of_command())


def _open_session(credentials: DeltaWidenCredentials) -> SessionConnection:
    if credentials.method == ConnectionMethod.SESSION:
        given = credentials.given_settings
        warn_of_other_folders(given, os.environ, project_dir())
        _new_folders.update(new_folders(given, project_dir()))
        opened = _open_driver(credentials)
        _warn_of_a_second_driver(opened, opened.session.conf.get(WAREHOUSE))
        return opened
    return open_connect(
        str(credentials.host),
        credentials.port,
        credentials.server_side_parameters,
        credentials.token,
        credentials.user,
        credentials.use_ssl,
        credentials.connect_timeout,
    )


def _warn_of_a_second_driver(opened: SessionConnection, location: str | None) -> None:
    warn_of_a_second_driver(location or "", lambda key: opened.session.conf.get(key, None))


def _open_driver(credentials: DeltaWidenCredentials) -> SessionConnection:
    """Open a session of a Spark on this machine: in this process, or one that was kept alive."""
    if credentials.kept_seconds is not None:
        return open_kept(credentials.spark_start, credentials.kept_seconds)
    return SessionConnection(get_session(credentials.spark_start))


def _server_message(error: Exception) -> str:
    """Return the message of the Thrift server, or the exception's own if there is none."""
    response = error.args[0] if error.args else None
    status = getattr(response, "status", None)
    return str(getattr(status, "errorMessage", None) or error)
