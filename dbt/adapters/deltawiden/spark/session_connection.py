"""A dbt connection and cursor over a PySpark session, with Spark's errors as dbt's."""

import contextlib
import threading
import uuid
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from dbt.adapters.spark.connections import SparkConnectionWrapper
from dbt_common.exceptions import DbtDatabaseError
from pyspark import SparkContext
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import DataType, StructType, TimestampNTZType, TimestampType

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.errors import error_text, whole_text
from dbt.adapters.deltawiden.spark.redaction import scrubbed
from dbt.adapters.deltawiden.spark.running import end_text
from dbt.adapters.deltawiden.spark.scala import (
    analysed_plan,
    clone_session,
    restore_active_session,
    returned_by_builder,
    set_active_session,
)
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.types import contains, fields_in, with_types_in

_PROPERTY = "spark.job.description"
"""The local property that Spark's UI shows for a job and for a query, as
``SparkContext.setJobDescription`` sets it."""


class JobDescription:
    """The description of the jobs that one thread starts, and a tag by which they are cancelled.

    PySpark gives each thread of Python its own thread of the JVM, with its own local properties. So
    the description of one thread is not that of another one.
    """

    def __init__(self) -> None:
        self.tag = f"dbt-deltawiden-{uuid.uuid4().hex}"
        self._thread: int | None = None
        self._before: str | None = None

    def show(self, context: SparkContext, name: str | None) -> None:
        """Show a name as the description of the jobs of this thread."""
        thread = threading.get_ident()
        if self._thread is None and name is not None:
            self._thread = thread
            self._before = context.getLocalProperty(_PROPERTY)
            context.addJobTag(self.tag)
        # At the end of a command, dbt closes the connections of other threads, too.
        if self._thread != thread:
            return
        shown: Any = self._before if name is None else name
        context.setLocalProperty(_PROPERTY, shown)
        if name is None:
            context.removeJobTag(self.tag)
            self._thread = None


class SessionConnection(SparkConnectionWrapper):
    """A connection and cursor over a SparkSession, with the interface that dbt-spark expects.

    Attributes:
        shared: the session of the process, which ``session`` is, or is a copy of.
        of_command: the one that a dbt command starts its nodes with: ``shared``, or a copy that its
            hooks have changed.
    """

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self.shared = session
        self.of_command = session
        self._frame: DataFrame | None = None
        self._rows: list[Row] | None = None
        self._fetched = 0
        self._statement = ""
        self._last_cursor: SessionConnection | None = None
        self._analysed: tuple[str, DataFrame] | None = None
        self._typed: tuple[str, DataFrame] | None = None
        self._job_description = JobDescription()
        self._has_copied = False
        self._in_session_zone = True

    def describe_jobs(self, name: str | None) -> None:
        """Show a name as the description of the jobs that this thread starts in Spark's UI."""
        self._job_description.show(self.session.sparkContext, name)

    def cursor(self) -> "SessionConnection":
        """Return a new cursor, so that statements can be nested."""
        self._last_cursor, self._typed = SessionConnection(self.session), None
        self._last_cursor._in_session_zone = self._in_session_zone
        return self._last_cursor

    def needs_copy(self, own: SparkSession | None) -> bool:
        """Return whether a change of the session would be seen by others.

        Args:
            own: the copy that this node or command has. A write with another setting can have made
                it, in a session that ended with the write.
        """
        is_public = self.session in (self.shared, self.of_command)
        return own is None or (is_public and self.session is not own)

    def use_copy(self) -> None:
        """Use a copy of the session from now on."""
        self.session = self._copy()

    def _copy(self) -> SparkSession:
        self._has_copied = True
        return clone_session(self.session)

    @contextlib.contextmanager
    def as_session_of_command(self) -> Iterator[None]:
        """Let Python models find this session by PySpark's builder, until the block ends."""
        with returned_by_builder(self.session):
            yield
        # The next command has to find what the hooks of this one have written.
        self.refresh_shared(None)

    def refresh_shared(self, iceberg_table: str | None) -> None:
        """Let the shared sessions find what was written in copies of them, if there were any.

        Each session caches the files of tables that are not Delta's. Iceberg caches its tables for
        each session only if a setting of the user's says so: ``iceberg_settings``.
        """
        if self.session is self.shared and not self._has_copied:
            return
        self._has_copied = False
        for session in {self.shared, self.of_command}:
            with contextlib.suppress(*SPARK_ERRORS):
                session._jsparkSession.sessionState().catalog().invalidateAllCachedTables()
                if iceberg_table is not None:
                    session.sql(f"refresh table {iceberg_table}")

    def cancel(self) -> None:
        """Cancel the statement of this connection. Other programs can have jobs in this Spark."""
        with contextlib.suppress(*SPARK_ERRORS):
            self.session.sparkContext.cancelJobsWithTag(self._job_description.tag)

    def close(self) -> None:
        """Discard the last result. The session stays open, because the whole process uses it."""
        self._frame = None
        self._rows = None
        self._last_cursor = None
        self._analysed = self._typed = None

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: Spark has no transactions across statements."""

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run one statement, perhaps with a semicolon at its end."""
        statement = sql.strip().removesuffix(";")
        if bindings is not None:
            statement = statement % tuple(literal(value) for value in bindings)
        self._rows = None
        self._fetched = 0
        self._statement = statement
        with errors_as_dbt_errors():
            self._frame = self.session.sql(statement)

    def run_unread(self) -> None:
        """Run the last statement to its end if it is a query: nobody will read its rows.

        A command has run already, and its rows are local.
        """
        frame = self._last_cursor._frame if self._last_cursor is not None else None
        with errors_as_dbt_errors():
            if frame is not None and not frame.isLocal():
                frame.write.format("noop").mode("overwrite").save()

    @contextlib.contextmanager
    def with_setting(self, key: str, value: str) -> Iterator[None]:
        """Run the statements inside with a setting.

        They run in a copy of the session, with all its settings, because other threads use the
        shared session at the same time.
        """
        shared = self.session
        self.session = self._copy()
        self.session.conf.set(key, value)
        try:
            yield
        finally:
            self.session = shared

    @contextlib.contextmanager
    def with_moments(self) -> Iterator[None]:
        """Return timestamps as PySpark does, for ``instant``: in the zone of this process."""
        self._in_session_zone = False
        try:
            yield
        finally:
            self._in_session_zone = True

    def fetchall(self) -> list[Row]:
        """Fetch all remaining rows of the last result."""
        rows, self._rows = self._remaining(), []
        return rows

    def fetchmany(self, size: int) -> list[Row]:
        """Fetch the next rows of the last result. The first call reads only those.

        To fetch more rows after that, Spark runs the query again.
        """
        if self._rows is None and not self._fetched:
            with errors_as_dbt_errors():
                rows = self._read_frame().take(size) if self._frame is not None else []
            self._fetched = len(rows)
            return rows
        remaining = self._remaining()
        rows, self._rows = remaining[:size], remaining[size:]
        return rows

    def fetchone(self) -> Row | None:
        """Fetch the next row of the last result."""
        remaining = self._remaining()
        return remaining.pop(0) if remaining else None

    def _remaining(self) -> list[Row]:
        if self._rows is None:
            with errors_as_dbt_errors():
                rows = self._read_frame().collect() if self._frame is not None else []
            self._rows = rows[self._fetched :]
        return self._rows

    def _read_frame(self) -> Any:
        return in_session_zone(self._frame) if self._in_session_zone else self._frame

    @property
    def description(self) -> Sequence[tuple[str, Any, None, None, None, None, bool]]:
        """The columns of the last result, in the format of PEP 249."""
        if self._frame is None:
            return []
        return [
            (field.name, field.dataType.simpleString(), None, None, None, None, field.nullable)
            for field in self._frame.schema.fields
        ]

    def schema(self, relation: str) -> StructType:
        """Read the exact schema of a table or view, whose name is quoted, without a statement."""
        with errors_as_dbt_errors():
            return self.session.table(relation).schema

    def comment(self, relation: str) -> str | None:
        """Read the comment on a table or view, or None."""
        with errors_as_dbt_errors():
            return self.session.catalog.getTable(relation).description

    def query_schema(self, query: str) -> StructType:
        """Analyse a query without running it."""
        analysed, self._analysed = self._analysed, None
        if analysed is not None and analysed[0] == query:
            return analysed[1].schema
        with errors_as_dbt_errors():
            self._typed = query, self.session.sql(query)
            return self._typed[1].schema

    def analysed_plan(self, query: str) -> Any:
        """Return the analysed plan of a query, in a session with a JVM.

        If ``query_schema`` has just analysed the query, or the last statement created a view from
        it, that is used. Otherwise the next ``query_schema`` of the query uses this result.
        """
        typed, self._typed = self._typed, None
        if typed is not None and typed[0] == query:
            return analysed_plan(typed[1])
        last = self._last_cursor
        if last is not None and last._frame is not None and last._statement.endswith(query.strip()):
            plan = analysed_plan(last._frame)
            if plan.nodeName() == "CreateViewCommand":
                return plan.plan()
        with errors_as_dbt_errors():
            frame = self.session.sql(query)
        self._analysed = query, frame
        return analysed_plan(frame)


def in_session_zone(frame: Any) -> Any:
    """Convert the timestamps of a frame to the times that its session shows for them.

    A Thrift server returns these times, and ``timestamp'...'`` reads them. PySpark would return
    those of this process's zone. Spark itself knows each zone that a session can have.
    """
    fields = frame.schema.fields
    are_moments = [contains(field.dataType, TimestampType) for field in fields]
    if not any(are_moments):
        return frame
    # By names of our own, because names can be equal, or have dots and backticks.
    names = [f"c{number}" for number in range(len(fields))]
    numbered, selected = frame.toDF(*names), []
    for name, field, is_moment in zip(names, fields, are_moments, strict=True):
        column = numbered[name]
        column = column.cast(_without_zone(field.dataType)) if is_moment else column
        selected.append(column.alias(field.name))
    return numbered.select(selected)


def _without_zone(data_type: DataType) -> DataType:
    if isinstance(data_type, TimestampType):
        return TimestampNTZType()
    return with_types_in(data_type, [_without_zone(f.dataType) for f in fields_in(data_type)])


@contextlib.contextmanager
def as_active(session: SparkSession) -> Iterator[None]:
    """Make a session active for calls of Spark's and Delta's classes without a statement."""
    before = set_active_session(session)
    try:
        yield
    finally:
        restore_active_session(session, before)


@contextlib.contextmanager
def errors_as_dbt_errors() -> Iterator[None]:
    """Raise an error of Spark or Delta in the block as a DbtDatabaseError, without a Java stack."""
    try:
        yield
    except SPARK_ERRORS as error:
        text = whole_text(error)
        logger.debug(text)
        raise DbtDatabaseError(end_text(error) or scrubbed(error_text(text))) from error


def silence_pyspark() -> None:
    """Keep what PySpark prints for each failed statement, frame and setting off the terminal."""
    # With this argument, a classic session does not verify each value. Connect ignores it.
    warnings.filterwarnings("ignore", message="'verifySchema' is ignored")
    # PySpark prints a setting that a Connect server refuses with its value, which can be a secret.
    warnings.filterwarnings("ignore", message="Failed to set ")
    with contextlib.suppress(ImportError):
        from pyspark.logger import PySparkLogger

        for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
            PySparkLogger.getLogger(name).disabled = True
