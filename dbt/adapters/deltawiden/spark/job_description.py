"""Show in Spark's UI which node of dbt runs a job."""

import threading
from typing import Any

from pyspark import SparkContext

_PROPERTY = "spark.job.description"
"""The local property that Spark's UI shows for a job and for a query, as
``SparkContext.setJobDescription`` sets it."""


class JobDescription:
    """The description of the jobs that one thread starts.

    PySpark gives each thread of Python its own thread of the JVM, with its own local properties. So
    the description of one thread is not that of another one.
    """

    def __init__(self) -> None:
        self._thread: int | None = None
        self._before: str | None = None

    def show(self, context: SparkContext, name: str | None) -> None:
        """Show a name as the description of the jobs of this thread."""
        thread = threading.get_ident()
        if self._thread is None and name is not None:
            self._thread = thread
            self._before = context.getLocalProperty(_PROPERTY)
        # At the end of a command, dbt closes the connections of other threads, too.
        if self._thread != thread:
            return
        shown: Any = self._before if name is None else name
        context.setLocalProperty(_PROPERTY, shown)
        if name is None:
            self._thread = None
