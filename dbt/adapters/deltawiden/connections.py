"""Connect to the Spark of a profile: credentials and the connection manager."""

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
    """How dbt connects to Spark: the methods of dbt-spark, and Spark Connect."""

    SESSION = "session"
    CONNECT = "connect"
    THRIFT = "thrift"
    HTTP = "http"
    ODBC = "odbc"


# PyHive quotes a text in such a way that Spark still substitutes the `${...}` in it.
_QUOTED_BY_PYHIVE = (ConnectionMethod.THRIFT, ConnectionMethod.HTTP)


@dataclass
class DeltaWidenCredentials(SparkCredentials):
    """A dbt-spark profile in which only ``schema`` is required.

    Without ``method``, Spark runs in dbt's own process (``session``).

    Attributes:
        delta_version: the version of Delta, for a server that does not report it.
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
        # dbt-spark turns ANSI mode off, whatever the profile says. Here, the profile decides.
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
        """The text that identifies an installation in dbt's anonymous usage statistics."""
        return self.host or "localhost"

    @property
    def has_session(self) -> bool:
        """Whether dbt has a SparkSession, for data frames, exact schemas and Python models."""
        return self.method in (ConnectionMethod.SESSION, ConnectionMethod.CONNECT)

    def _connection_keys(self) -> tuple[str, ...]:
        if self.method == ConnectionMethod.SESSION:
            return "method", "schema"
        return "method", *super()._connection_keys()


class DeltaWidenConnectionManager(SparkConnectionManager):
    """dbt-spark's connection manager, extended by sessions and clear errors."""

    TYPE = "deltawiden"

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:
        """Convert an error that Spark raises to a dbt error with Spark's condition and message.

        Args:
            sql: the statement that runs inside.

        Raises:
            DbtDatabaseError: Spark or Delta refused the statement.
        """
        try:
            yield
        except DbtRuntimeError as error:
            logger.debug(f"Error while running:\n{sql}")
            # The errors that dbt-spark raises contain the server's whole answer.
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
            arguments: the other positional arguments of dbt's method.
            options: the other keyword arguments of dbt's method.

        Returns:
            The connection, and a cursor with the result.

        Raises:
            DbtDatabaseError: Spark or Delta refused the statement.
        """
        method = self.get_thread_connection().credentials.method
        if bindings is not None and method in _QUOTED_BY_PYHIVE:
            sql, bindings = sql % tuple(literal(value) for value in bindings), None
        return super().add_query(sql, auto_begin, bindings, *arguments, **options)

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection: a SparkSession, or a connection of dbt-spark.

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
        error.msg = scrubbed(error.msg)  # A driver's error can contain its whole configuration.
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
    """Return the message of the Thrift server, or the exception's own if there is none."""
    response = error.args[0] if error.args else None
    status = getattr(response, "status", None)
    return str(getattr(status, "errorMessage", None) or error)
