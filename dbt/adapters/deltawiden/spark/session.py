"""Open the one PySpark session of a run, and a dbt connection that uses it."""

import contextlib
import contextvars
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionWrapper
from dbt_common.exceptions import DbtConfigError, DbtDatabaseError
from dbt_common.invocation import get_invocation_id
from pyspark import SparkContext
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS, start_spark
from dbt.adapters.deltawiden.spark.errors import error_text, whole_text
from dbt.adapters.deltawiden.spark.job_description import JobDescription
from dbt.adapters.deltawiden.spark.redaction import scrubbed
from dbt.adapters.deltawiden.spark.scala import (
    analysed_plan,
    clone_session,
    restore_active_session,
    set_active_session,
)
from dbt.adapters.deltawiden.spark.settings import (
    CATALOG,
    EXTENSION,
    SAFE_WRITES,
    SESSION_CATALOG,
    given_settings,
)
from dbt.adapters.deltawiden.spark.target_settings import TargetSettings
from dbt.adapters.deltawiden.sql.literals import literal

logger = AdapterLogger("DeltaWiden")

_lock = threading.Lock()
_current: "_Current | None" = None
_failed_early: tuple[Exception, Mapping[str, str]] | None = None


@dataclass
class _Current:
    """The session of the process.

    Attributes:
        session: the session.
        settings: sets and removes the settings of targets.
        is_own: whether dbt started its Spark.
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


def get_session(parameters: Mapping[str, str]) -> SparkSession:
    """Return the process's SparkSession with a target's settings, starting Spark if necessary.

    Args:
        parameters: ``server_side_parameters`` of the profile.

    Returns:
        The session. If another program of the process (a notebook) has created one, it is that
        session, with its temporary views; ``release_session`` restores that session's settings.

    Raises:
        SparkDidNotStart: there is no Java, Java is too old, jars can't be resolved, or the JVM did
            not start for another reason.
        DbtConfigError: the process's Spark was started with settings that this target can't use.
    """
    global _failed_early
    with _lock:
        failed, _failed_early = _failed_early, None
        if failed is not None and failed[1] == parameters:
            raise failed[0]
        return _get_session(parameters)


def release_session() -> None:
    """Restore the settings of a session that another program created."""
    with _lock:
        if _current is not None and _current.is_running and not _current.is_own:
            _current.settings.undo()
            _current.applied = None


def check_has_delta() -> None:
    """Check that a session that another program started supports Delta.

    Raises:
        DbtConfigError: the session has neither Delta's extension nor a catalog for Delta tables.
    """
    if _current is None or _current.is_own:
        return
    conf = _current.session.conf
    extensions = conf.get("spark.sql.extensions", None) or ""
    if EXTENSION not in extensions and conf.get(SESSION_CATALOG, None) is None:
        raise DbtConfigError(
            "This process already has a SparkSession, which another program has started without "
            "Delta. Stop it before dbt runs (spark.stop()), so that dbt starts one with Delta, or "
            f"start it with Delta's jars, spark.sql.extensions = {EXTENSION} and "
            f"{SESSION_CATALOG} = {CATALOG}."
        )


def prestart_session(parameters: Mapping[str, str]) -> None:
    """Start Spark in the background, and return at once. ``get_session`` waits for the start.

    Args:
        parameters: ``server_side_parameters`` of the profile.
    """
    # A daemon thread, because dbt may end before it needs Spark. dbt's log events read the context.
    run = contextvars.copy_context().run
    threading.Thread(target=run, args=(_prestart, dict(parameters)), daemon=True).start()


def _prestart(parameters: Mapping[str, str]) -> None:
    # The metastore is not started here: if dbt ended early, its database would stay incomplete.
    global _failed_early
    with _lock:
        try:
            _get_session(parameters)
        except Exception as error:
            # Keep it for the thread that asks for the session, which can report it to the user.
            _failed_early = error, parameters


def _get_session(parameters: Mapping[str, str]) -> SparkSession:
    global _current
    # dbt asks for the session at every model, and PySpark's builder would call the JVM each time.
    if _current is None or not _current.is_running:
        _current = _open_session(parameters)
    wanted = dict(parameters), get_invocation_id()
    if _current.applied != wanted:
        _current.settings.apply({**SAFE_WRITES, **parameters})
        _current.applied = wanted
    return _current.session


def _open_session(parameters: Mapping[str, str]) -> _Current:
    _hush_pyspark()
    is_own = SparkContext._active_spark_context is None
    if is_own:
        start_spark(parameters)
    session = SparkSession.builder.getOrCreate()
    started_with = {**SAFE_WRITES, **parameters} if is_own else {}
    without_target = given_settings({}, os.environ) if is_own else {}
    return _Current(session, TargetSettings(session, started_with, without_target), is_own)


def _hush_pyspark() -> None:
    """Prevent PySpark 4 from printing each failed statement as JSON on the terminal."""
    with contextlib.suppress(ImportError):
        from pyspark.logger import PySparkLogger

        for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
            PySparkLogger.getLogger(name).disabled = True


class SessionConnection(SparkConnectionWrapper):
    """A connection and cursor over a SparkSession, with the interface that dbt-spark expects.

    Attributes:
        session: the session.
    """

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._frame: DataFrame | None = None
        self._rows: list[Row] | None = None
        self._fetched = 0
        self._statement = ""
        self._last_cursor: SessionConnection | None = None
        self._analysed: tuple[str, DataFrame] | None = None
        self._job_description = JobDescription()

    def describe_jobs(self, name: str | None) -> None:
        """Show a name as the description of the jobs that this thread starts in Spark's UI.

        Args:
            name: the name, or None to show what was shown before the first name.
        """
        self._job_description.show(self.session.sparkContext, name)

    def cursor(self) -> "SessionConnection":
        """Return a new cursor, so that statements can be nested."""
        self._last_cursor = SessionConnection(self.session)
        return self._last_cursor

    def cancel(self) -> None:
        """Cancel the statements that are running in this process."""
        with contextlib.suppress(*SPARK_ERRORS):
            self.session.sparkContext.cancelAllJobs()

    def close(self) -> None:
        """Discard the last result. The session stays open, because the whole process uses it."""
        self._frame = None
        self._rows = None
        self._last_cursor = None
        self._analysed = None

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: Spark has no transactions across statements."""

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        """Run one statement.

        Args:
            sql: the statement; a semicolon at its end is allowed.
            bindings: values for the ``%s`` in it.

        Raises:
            DbtDatabaseError: Spark or Delta refused the statement. The message is theirs, without
                the Java stack.
        """
        statement = sql.strip().removesuffix(";")
        if bindings is not None:
            statement = statement % tuple(literal(value) for value in bindings)
        self._rows = None
        self._fetched = 0
        self._statement = statement
        with errors_as_dbt_errors():
            self._frame = self.session.sql(statement)

    @contextlib.contextmanager
    def with_setting(self, key: str, value: str) -> Iterator[None]:
        """Run the statements inside with a setting.

        They run in a copy of the session, with all its settings, because other threads use the
        shared session at the same time.

        Args:
            key: the setting.
            value: its value.
        """
        shared = self.session
        self.session = clone_session(shared)
        self.session.conf.set(key, value)
        try:
            yield
        finally:
            self.session = shared

    def fetchall(self) -> list[Row]:
        """Fetch all remaining rows of the last result."""
        rows, self._rows = self._remaining(), []
        return rows

    def fetchmany(self, size: int) -> list[Row]:
        """Fetch the next rows of the last result. The first call reads only those.

        To fetch more rows after that, Spark runs the query again.

        Args:
            size: the maximum number of rows.
        """
        if self._rows is None and not self._fetched:
            with errors_as_dbt_errors():
                rows = self._frame.take(size) if self._frame is not None else []
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
                rows = self._frame.collect() if self._frame is not None else []
            self._rows = rows[self._fetched :]
        return self._rows

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
        """Read the exact schema of a table or view, without running a statement.

        Args:
            relation: its name, quoted for a statement.

        Returns:
            The schema.

        Raises:
            DbtDatabaseError: the relation does not exist, or it can't be read.
        """
        with errors_as_dbt_errors():
            return self.session.table(relation).schema

    def comment(self, relation: str) -> str | None:
        """Read the comment on a table or view.

        Args:
            relation: its name, quoted for a statement.

        Returns:
            The comment, or None.

        Raises:
            DbtDatabaseError: the relation does not exist.
        """
        with errors_as_dbt_errors():
            return self.session.catalog.getTable(relation).description

    def query_schema(self, query: str) -> StructType:
        """Analyse a query without running it.

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
        with errors_as_dbt_errors():
            return self.session.sql(query).schema

    def analysed_plan(self, query: str) -> Any:
        """Return the analysed plan of a query, in a session with a JVM.

        If the last statement created a view from the query, its plan is used. Otherwise the query
        is analysed now, and the next ``query_schema`` of the same query uses the result.

        Args:
            query: a SELECT.

        Returns:
            The logical plan, a Java object.

        Raises:
            DbtDatabaseError: the query is not valid.
        """
        last = self._last_cursor
        if last is not None and last._frame is not None and last._statement.endswith(query.strip()):
            plan = analysed_plan(last._frame)
            if plan.nodeName() == "CreateViewCommand":
                return plan.plan()
        with errors_as_dbt_errors():
            frame = self.session.sql(query)
        self._analysed = query, frame
        return analysed_plan(frame)


@contextlib.contextmanager
def as_active(session: SparkSession) -> Iterator[None]:
    """Make a session active for calls of Spark's and Delta's classes without a statement.

    Args:
        session: a session with a JVM.
    """
    before = set_active_session(session)
    try:
        yield
    finally:
        restore_active_session(session, before)


@contextlib.contextmanager
def errors_as_dbt_errors() -> Iterator[None]:
    """Convert an error that Spark or Delta raises inside to one clear error.

    Raises:
        DbtDatabaseError: Spark or Delta raised an error. The message is theirs, without the Java
            stack.
    """
    try:
        yield
    except SPARK_ERRORS as error:
        text = whole_text(error)
        logger.debug(text)
        raise DbtDatabaseError(scrubbed(error_text(text))) from error
