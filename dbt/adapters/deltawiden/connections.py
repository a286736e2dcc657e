"""Which Spark a profile means: credentials and the connection manager."""

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionManager, SparkCredentials
from dbt_common.dataclass_schema import StrEnum
from dbt_common.exceptions import DbtConfigError, DbtDatabaseError, DbtRuntimeError

from dbt.adapters.deltawiden.spark.connect import DEFAULT_PORT, open_connect
from dbt.adapters.deltawiden.spark.errors import error_text, has_java_stack
from dbt.adapters.deltawiden.spark.redaction import find_secrets, hide, scrubbed
from dbt.adapters.deltawiden.spark.session import SessionConnection, get_session, release_session
from dbt.adapters.deltawiden.sql.literals import literal

logger = AdapterLogger("DeltaWiden")

ANSI = "spark.sql.ansi.enabled"
_VERSION = re.compile(r"\d+(\.\d+)+")


class ConnectionMethod(StrEnum):
    """How Spark is reached: as dbt-spark does, and by Spark Connect."""

    SESSION = "session"
    CONNECT = "connect"
    THRIFT = "thrift"
    HTTP = "http"
    ODBC = "odbc"


# PyHive quotes a text so that Spark still replaces the `${...}` in it.
_QUOTED_BY_PYHIVE = (ConnectionMethod.THRIFT, ConnectionMethod.HTTP)


@dataclass
class DeltaWidenCredentials(SparkCredentials):
    """A dbt-spark profile, in which all but ``schema`` may be left out.

    Without ``method``, Spark runs in dbt's own process (``session``).

    Attributes:
        delta_version: the version of Delta that runs, for a server that does not say it.
    """

    method: ConnectionMethod = ConnectionMethod.SESSION  # type: ignore[assignment]
    delta_version: str | None = None

    @classmethod
    def __pre_deserialize__(cls, data: Any) -> Any:
        data = super().__pre_deserialize__(data)
        if data.get("method") == ConnectionMethod.CONNECT:
            data.setdefault("port", DEFAULT_PORT)
        return data

    def __post_init__(self) -> None:
        if self.method == ConnectionMethod.SESSION and self.host is None:
            self.host = "localhost"
        if self.delta_version is not None and not _VERSION.fullmatch(self.delta_version):
            raise DbtConfigError(
                f"The profile's delta_version is {self.delta_version!r}; accepted is a version in "
                "quotes, such as '4.0.1'"
            )
        given_ansi = self.server_side_parameters.get(ANSI)
        super().__post_init__()
        # dbt-spark turns ANSI mode off whatever the profile says; here the profile wins.
        if given_ansi is not None:
            self.server_side_parameters[ANSI] = str(given_ansi)
        given = {"token": self.token, "password": self.password}
        hide(find_secrets(self.server_side_parameters, given, self.connection_string_suffix))

    @property
    def type(self) -> str:
        """The name of the adapter."""
        return "deltawiden"

    @property
    def unique_field(self) -> str:
        """What tells one installation from another in dbt's anonymous statistics."""
        return self.host or "localhost"

    @property
    def has_session(self) -> bool:
        """Whether dbt has a SparkSession: data frames, exact schemas, Python models."""
        return self.method in (ConnectionMethod.SESSION, ConnectionMethod.CONNECT)

    def _connection_keys(self) -> tuple[str, ...]:
        if self.method == ConnectionMethod.SESSION:
            return "method", "schema"
        return "method", *super()._connection_keys()


class DeltaWidenConnectionManager(SparkConnectionManager):
    """dbt-spark's connections, with a session that is configured once and errors that are clear."""

    TYPE = "deltawiden"

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:
        """Turn what Spark raises into a dbt error with Spark's condition and message.

        Args:
            sql: the statement that runs inside.

        Raises:
            DbtDatabaseError: Spark or Delta refused the statement.
        """
        try:
            yield
        except DbtRuntimeError as error:
            logger.debug(f"Error while running:\n{sql}")
            # dbt-spark's own errors have the server's whole answer in them.
            if not has_java_stack(str(error.msg)):
                error.msg = scrubbed(error.msg)
                raise
            logger.debug(str(error.msg))
            raise DbtDatabaseError(scrubbed(error_text(str(error.msg)))) from error
        except Exception as error:
            logger.debug(f"Error while running:\n{sql}")
            logger.debug(str(error))
            raise DbtDatabaseError(scrubbed(error_text(_server_message(error)))) from error

    def add_query(
        self,
        sql: str,
        auto_begin: bool = True,
        bindings: Sequence[Any] | None = None,
        *arguments: Any,
        **options: Any,
    ) -> tuple[Connection, Any]:
        """Run a statement.

        Args:
            sql: the statement.
            auto_begin: whether to begin a transaction; Spark has none.
            bindings: values for the ``%s`` in it.
            arguments: as dbt's own takes them.
            options: as dbt's own takes them.

        Returns:
            The connection, and a cursor with the result.

        Raises:
            DbtDatabaseError: Spark or Delta refused the statement.
        """
        method = self.get_thread_connection().credentials.method
        if bindings is not None and method in _QUOTED_BY_PYHIVE:
            sql, bindings = sql % tuple(literal(each) for each in bindings), None
        return super().add_query(sql, auto_begin, bindings, *arguments, **options)

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection: the process's SparkSession, or whatever dbt-spark opens.

        Args:
            connection: the connection, with its credentials.

        Returns:
            The same connection, open.

        Raises:
            SparkDidNotStart: the embedded Spark could not be started.
            FailedToConnectError: the server could not be reached.
        """
        credentials = connection.credentials
        if connection.state == ConnectionState.OPEN or not credentials.has_session:
            return _open_server(super().open, connection)
        connection.handle = _open_session(credentials)
        connection.state = ConnectionState.OPEN
        return connection

    def cleanup_all(self) -> None:
        """Close all connections. dbt calls this at the end of a command."""
        super().cleanup_all()
        release_session()


def _open_server(open_it: Callable[[Connection], Connection], connection: Connection) -> Connection:
    try:
        return open_it(connection)
    except DbtRuntimeError as error:
        error.msg = scrubbed(error.msg)  # A driver's error can have all that it was given.
        raise


def _open_session(credentials: DeltaWidenCredentials) -> SessionConnection:
    if credentials.method == ConnectionMethod.SESSION:
        return SessionConnection(get_session(credentials.server_side_parameters))
    return open_connect(
        str(credentials.host),
        credentials.port,
        credentials.server_side_parameters,
        credentials.token,
        credentials.user,
        credentials.use_ssl,
        credentials.connect_timeout,
    )


def _server_message(error: Exception) -> str:
    """Give the message that a Thrift server wrote, or else the exception's own."""
    response = error.args[0] if error.args else None
    status = getattr(response, "status", None)
    return str(getattr(status, "errorMessage", None) or error)
