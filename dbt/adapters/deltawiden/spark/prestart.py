"""Start Spark while dbt still reads the project: neither needs the other, and both take seconds."""

import os
from collections.abc import Mapping

from dbt.flags import get_flags
from pyspark import SparkContext

from dbt.adapters.deltawiden.spark.session import prestart_session
from dbt.adapters.deltawiden.spark.settings import is_on_one_machine

# Those that always ask Spark something, by the name that dbt gives them.
_COMMANDS = frozenset(
    {
        "build",
        "clone",
        "freshness",  # of sources
        "generate",  # docs
        "retry",
        "run",
        "run-operation",
        "seed",
        "show",
        "snapshot",
        "test",
    }
)


def prestart(parameters: Mapping[str, str]) -> None:
    """Begin to start the embedded Spark, if this dbt command will need it.

    A cluster is asked for nothing before it is sure that there is work for it.

    Args:
        parameters: ``server_side_parameters`` of a profile with ``method: session``.
    """
    if (
        getattr(get_flags(), "WHICH", None) in _COMMANDS
        and SparkContext._active_spark_context is None
        and "PYSPARK_GATEWAY_PORT" not in os.environ  # spark-submit has started one
        and is_on_one_machine(parameters, os.environ)
    ):
        prestart_session(parameters)
