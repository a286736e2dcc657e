"""The one PySpark session of a run, and a dbt connection over it."""

import contextlib
import contextvars
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionWrapper
from dbt_common.exceptions import DbtDatabaseError
from pyspark import SparkContext
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.errors import error_text, whole_text
from dbt.adapters.deltawiden.launch import SPARK_ERRORS, start_spark
from dbt.adapters.deltawiden.secrets import scrubbed
from dbt.adapters.deltawiden.settings import SAFE_WRITES
from dbt.adapters.deltawiden.widening.literals import literal

logger = AdapterLogger("DeltaWiden")

_lock = threading.Lock()
_last: tuple[SparkSession, Mapping[str, str]] | None = None
_failed_early: tuple[Exception, Mapping[str, str]] | None = None


def get_session(parameters: Mapping[str, str]) -> SparkSession:
    """Give the process's SparkSession, starting Spark if nobody has.

    A session that the process already has (a notebook's, a test's, another run's) is used as it is;
    of the parameters, it gets those that can be set while it runs.

    Args:
        parameters: ``server_side_parameters`` of the profile.

    Returns:
        The session.

    Raises:
        SparkDidNotStart: no Java, a Java too old, jars that can't be resolved, or any other
            reason for which the JVM did not start.
    """
    global _failed_early
    with _lock:
        failed, _failed_early = _failed_early, None
        if failed is not None and failed[1] == parameters:
            raise failed[0]
        return _get_session(parameters)


def start_session_early(parameters: Mapping[str, str]) -> None:
    """Begin to start Spark, and return at once; ``get_session`` waits for it.

    Args:
        parameters: ``server_side_parameters`` of the profile.
    """
    # A daemon: dbt may end before it needs Spark. The context is what dbt's log events read.
    run = contextvars.copy_context().run
    threading.Thread(target=run, args=(_start_early, dict(parameters)), daemon=True).start()


def _start_early(parameters: Mapping[str, str]) -> None:
    # Not the metastore too: where dbt ends early, its database would be left half made.
    global _failed_early
    with _lock:
        try:
            _get_session(parameters)
        except Exception as error:
            # For whoever asks for the session: that thread can tell people.
            _failed_early = error, parameters


def _get_session(parameters: Mapping[str, str]) -> SparkSession:
    global _last
    # dbt asks for every model, and PySpark's own way asks the JVM each time.
    if _last is not None and _is_running(_last[0]) and _last[1] == parameters:
        return _last[0]
    _hush_pyspark()
    if SparkContext._active_spark_context is None:
        start_spark(parameters)
    builder = SparkSession.builder
    for key, value in {**SAFE_WRITES, **parameters}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    _last = session, dict(parameters)
    return session


def _is_running(session: SparkSession) -> bool:
    return session.sparkContext is SparkContext._active_spark_context


def _hush_pyspark() -> None:
    """Keep PySpark 4 from printing each failed statement, as JSON, on the terminal."""
    with contextlib.suppress(ImportError):
        from pyspark.logger import PySparkLogger

        for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
            PySparkLogger.getLogger(name).disabled = True


class SessionConnection(SparkConnectionWrapper):
    """A connection and cursor over a SparkSession, as dbt's SQL classes want one.

    Attributes:
        session: the session.
        has_jvm: whether its JVM can be reached from this process.
    """

    has_jvm = True

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._frame: DataFrame | None = None
        self._rows: list[Row] | None = None
        self._statement = ""
        self._last_cursor: SessionConnection | None = None
        self._analysed: tuple[str, DataFrame] | None = None

    def cursor(self) -> "SessionConnection":
        """Open a cursor of its own, so that statements can nest."""
        self._last_cursor = SessionConnection(self.session)
        return self._last_cursor

    def cancel(self) -> None:
        """Stop the statements that this process has running."""
        with contextlib.suppress(*SPARK_ERRORS):
            self.session.sparkContext.cancelAllJobs()

    def close(self) -> None:
        """Forget the last result. The session stays: it is the process's."""
        self._frame = None
        self._rows = None
        self._last_cursor = None
        self._analysed = None

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: Spark has no transactions over several statements."""

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run one statement.

        Args:
            sql: the statement; a semicolon at its end is allowed.
            bindings: values for the ``%s`` in it.

        Raises:
            DbtDatabaseError: Spark or Delta refused it, in their words, without the Java stack.
        """
        statement = sql.strip().removesuffix(";")
        if bindings is not None:
            statement = statement % tuple(literal(each) for each in bindings)
        self._rows = None
        self._statement = statement
        with clear_errors():
            self._frame = self.session.sql(statement)

    @contextlib.contextmanager
    def with_setting(self, key: str, value: str) -> Iterator[None]:
        """Let the statements run inside have a setting.

        They run in a copy of the session, with all its settings, because other threads write
        through the shared one at the same time.

        Args:
            key: the setting.
            value: its value.
        """
        shared = self.session
        copy = shared._jsparkSession.cloneSession()
        self.session = SparkSession(shared.sparkContext, copy)
        self.session.conf.set(key, value)
        try:
            yield
        finally:
            self.session = shared

    def fetchall(self) -> list[Row]:
        """Fetch all rows that are left of the last result."""
        if self._rows is None:
            with clear_errors():
                self._rows = self._frame.collect() if self._frame is not None else []
        rows, self._rows = self._rows, []
        return rows

    def fetchmany(self, size: int) -> list[Row]:
        """Fetch the first rows of the last result, reading no more of it than those."""
        if self._rows is None:
            with clear_errors():
                self._rows = self._frame.take(size) if self._frame is not None else []
        rows, self._rows = self._rows[:size], self._rows[size:]
        return rows

    def fetchone(self) -> Row | None:
        """Fetch the next row of the last result."""
        if self._rows is None:
            self._rows = self.fetchall()
        return self._rows.pop(0) if self._rows else None

    @property
    def description(self) -> Sequence[tuple[str, Any, None, None, None, None, bool]]:
        """The columns of the last result, as PEP 249 has them."""
        if self._frame is None:
            return []
        return [
            (field.name, field.dataType.simpleString(), None, None, None, None, field.nullable)
            for field in self._frame.schema.fields
        ]

    def schema(self, relation: str) -> StructType:
        """Read the schema of a table or view, exactly and without a statement.

        Args:
            relation: its name, as for a statement.

        Returns:
            The schema.

        Raises:
            DbtDatabaseError: there is no such relation, or it can't be read.
        """
        with clear_errors():
            return self.session.table(relation).schema

    def comment(self, relation: str) -> str | None:
        """Read the comment on a table or view.

        Args:
            relation: its name, as for a statement.

        Returns:
            The comment, or None.

        Raises:
            DbtDatabaseError: there is no such relation.
        """
        with clear_errors():
            return self.session.catalog.getTable(relation).description

    def query_schema(self, query: str) -> StructType:
        """Analyse a query, without running it.

        Args:
            query: a SELECT.

        Returns:
            The schema of its result.

        Raises:
            DbtDatabaseError: the query is not valid.
        """
        analysed, self._analysed = self._analysed, None
        if analysed is not None and analysed[0] == query:
            return analysed[1].schema
        with clear_errors():
            return self.session.sql(query).schema

    def analysed_plan(self, query: str) -> Any:
        """Return the plan of a query as Spark has analysed it, in a session with a JVM.

        Where the last statement made a view of the query, that is its plan. Else the query is
        analysed now, and the next ``query_schema`` of the same query need not do it again.

        Args:
            query: a SELECT.

        Returns:
            The logical plan, a Java object.

        Raises:
            DbtDatabaseError: the query is not valid.
        """
        last = self._last_cursor
        if last is not None and last._frame is not None and last._statement.endswith(query.strip()):
            plan = _analysed(last._frame)
            if plan.nodeName() == "CreateViewCommand":
                return plan.plan()
        with clear_errors():
            frame = self.session.sql(query)
        self._analysed = query, frame
        return _analysed(frame)


def _analysed(frame: DataFrame) -> Any:
    java: Any = frame._jdf
    return java.queryExecution().analyzed()


@contextlib.contextmanager
def as_active(session: SparkSession) -> Iterator[None]:
    """Let Spark's and Delta's classes, called without a statement, take a session's settings.

    Args:
        session: a session with a JVM.
    """
    own: Any = session._jsparkSession
    before = own.getActiveSession()
    own.setActiveSession(own)
    try:
        yield
    finally:
        # The thread's own goes on: Delta refuses to work where there is none.
        own.setActiveSession(before.get() if before.isDefined() else own)


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Let what Spark or Delta refuses inside be one clear error.

    Raises:
        DbtDatabaseError: Spark or Delta refused something, in their words, without the Java stack.
    """
    try:
        yield
    except SPARK_ERRORS as error:
        text = whole_text(error)
        logger.debug(text)
        raise DbtDatabaseError(scrubbed(error_text(text))) from error
