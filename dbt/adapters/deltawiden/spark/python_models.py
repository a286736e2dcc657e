"""Run Python models in dbt's own process and SparkSession."""

import os
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from dbt.adapters.base.impl import PythonJobHelper
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.errors import error_text
from dbt.adapters.deltawiden.spark.pandas_frames import check_index, spark_frame
from dbt.adapters.deltawiden.spark.redaction import scrubbed
from dbt.adapters.deltawiden.spark.running import end_text
from dbt.adapters.deltawiden.spark.scala import frame_in
from dbt.adapters.deltawiden.spark.session_connection import SessionConnection
from dbt.adapters.deltawiden.spark.temporary_views import PYTHON, temporary_view
from dbt.adapters.deltawiden.spark.unsafe_settings import refused_settings_kept
from dbt.adapters.deltawiden.sql.identifiers import quote

SESSION = "session"
"""The submission method that runs a Python model in dbt's own session."""

_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"


def check_submission(asked: str | None, method: str, has_session: bool) -> None:
    """Refuse a Python model with its ``submission_method``, if the connection can't run it so.

    dbt-spark's other methods post the model's code to the profile's host, as a job of Databricks.
    """
    if has_session and asked not in (None, SESSION):
        raise DbtRuntimeError(
            f"This is a Python model with submission_method: {asked}, and method: {method} of the "
            "profile can't submit a job to Databricks. Remove submission_method: the model then "
            "runs in dbt's own Spark session."
        )
    has_none = method in ("thrift", "odbc")
    if (asked == SESSION and not has_session) or (asked is None and has_none):
        raise DbtRuntimeError(
            f"This is a Python model, and method: {method} of the profile can run SQL only. "
            "Python models run in dbt's own Spark session: use method: session or connect."
        )


_has_set_connect_mode = False


def use_functions_of(session: Any) -> None:
    """Let ``pyspark.sql.functions`` and ``Window`` make expressions for a Spark Connect session.

    PySpark sets the variable if ``SparkSession.builder`` creates the session. Without it, these
    functions need a SparkContext in this process.

    Source:
        ``pyspark.sql.utils.is_remote``
    """
    global _has_set_connect_mode
    is_connect = type(session).__module__.startswith("pyspark.sql.connect")
    if is_connect and _CONNECT_MODE not in os.environ:
        os.environ[_CONNECT_MODE] = "1"
        _has_set_connect_mode = True


def release_functions() -> None:
    """Undo ``use_functions_of`` when no other thread runs.

    While a thread reads all variables of the environment, as dbt does for each log event, removing
    one raises a KeyError in it. After the command, the variable has to be removed, because
    ``SparkSession.builder`` reads it.
    """
    global _has_set_connect_mode
    if _has_set_connect_mode:
        os.environ.pop(_CONNECT_MODE, None)
        _has_set_connect_mode = False


class PythonModelFailed(DbtRuntimeError):
    """A Python model raised an exception, or did not return a data frame."""


class SessionJob(PythonJobHelper):
    """Runs a Python model's code in the SparkSession of the run.

    Args:
        connection: returns the connection of the model's thread, which runs its other statements.
        check_query: takes a query and the model's configuration, and raises an exception if the
            model must not read the query's values.
    """

    def __init__(
        self,
        parsed_model: dict[str, Any],
        credential: Any,
        connection: Callable[[], SessionConnection],
        check_query: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self._file = str(parsed_model["original_file_path"])
        self._config = parsed_model["config"]
        self._view = temporary_view(parsed_model, PYTHON)
        self._connection = connection
        self._check_query = check_query

    def submit(self, compiled_code: str) -> None:
        """Run the model's own code, followed by the code that dbt appends.

        Raises:
            PythonModelFailed: the code raised an exception. The message contains the line.
            DbtConfigError: it has set a setting with which values would be lost.
        """
        connection = self._connection()
        # What the code sets, and its temporary views and functions, are not those of another model.
        connection.use_copy()
        names = {
            "spark": connection.session,
            "__name__": "__dbt__",
            "dbt_table": self._table,
            "dbt_create_view": self._create_view,
        }
        try:
            use_functions_of(connection.session)
            with ExitStack() as kept:
                # `SparkSession.builder.getOrCreate()` in the code returns that of the command.
                for session in {connection.session, connection.of_command}:
                    kept.enter_context(refused_settings_kept(session))
                exec(compile(compiled_code, self._file, "exec"), names)
        except DbtRuntimeError:
            raise
        except Exception as error:
            text = end_text(error) or scrubbed(self._text(error, compiled_code))
            raise PythonModelFailed(text) from error

    def _table(self, name: str) -> DataFrame:
        """Read a ref or source, whose values may leave Spark through ``toPandas``."""
        query = f"select * from {name}"
        self._check_query(query, self._config)
        # A query: the rows of a batch or of a sample, or none.
        session = self._connection().session
        return session.sql(query) if name.startswith("(") else session.table(name)

    def _create_view(self, returned: Any) -> None:
        """Create the temporary view of the model's data frame that the write selects from."""
        connection = self._connection()
        frame = as_spark_frame(returned, connection.session)
        # It can be of another session, such as that of `SparkSession.builder.getOrCreate()`.
        if not _is_of_connect(frame) and frame.sparkSession is not connection.session:
            frame = frame_in(connection.session, frame)
        frame.createOrReplaceTempView(quote(self._view))

    def _text(self, error: Exception, code: str) -> str:
        if isinstance(error, SyntaxError):
            return f"{type(error).__name__}: {error}"
        kind = "" if isinstance(error, SPARK_ERRORS) else f"{type(error).__name__}: "
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno or 1 for frame in frames if frame.filename == self._file]
        if not lines:
            return f"{kind}{error_text(error)}"
        # No line number: dbt has removed the empty lines at the beginning of the file.
        return (
            f"{kind}{error_text(error)}\n{self._file}: {code.splitlines()[lines[-1] - 1].strip()}"
        )


def as_spark_frame(returned: Any, spark: SparkSession) -> DataFrame:
    """Convert what a Python model returns, of Spark, pandas or pandas on Spark, to a data frame.

    Raises:
        PythonModelFailed: the value is of another type.
        PandasFrameRefused: a pandas data frame can't be converted with the same values, or an index
            with a name would be lost.

    Source:
        https://docs.getdbt.com/docs/build/python-models, "Return type"
    """
    if hasattr(returned, "to_spark"):
        check_index(returned)
        returned = returned.to_spark()
    # In PySpark 3.5, the data frame of Spark Connect is another class.
    if isinstance(returned, DataFrame) or _is_of_connect(returned):
        frame: DataFrame = returned
        return frame
    if type(returned).__module__.partition(".")[0] == "pandas":
        return spark_frame(returned, spark)
    raise PythonModelFailed(
        f"model() must return a data frame of Spark or pandas; it returned {type(returned)!r}"
    )


def _is_of_connect(returned: Any) -> bool:
    kind = type(returned)
    return (kind.__module__, kind.__name__) == ("pyspark.sql.connect.dataframe", "DataFrame")
