"""Start Spark while dbt parses the project: the two are independent, and each takes seconds."""

import os
from collections.abc import Mapping

from dbt.flags import get_flags
from pyspark import SparkContext

from dbt.adapters.deltawiden.spark.keep_alive.session import prestart_kept
from dbt.adapters.deltawiden.spark.session import prestart_session
from dbt.adapters.deltawiden.spark.settings import is_on_one_machine

# The dbt commands that always use Spark, by the name in dbt's flag WHICH.
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


# Operations that never use it.
_WITHOUT_SPARK = frozenset({"stop_spark"})


def prestart(parameters: Mapping[str, str], keep_alive: int | None = None) -> None:
    """Start the embedded Spark in the background if this dbt command will need it.

    Nothing is requested from a cluster before it is certain that there is work for it.

    Args:
        parameters: ``server_side_parameters`` of a profile with ``method: session``.
        keep_alive: how many seconds Spark must live after its last use, or None if it ends with
            dbt.
    """
    flags = get_flags()
    if (
        getattr(flags, "WHICH", None) not in _COMMANDS
        or getattr(flags, "MACRO", None) in _WITHOUT_SPARK
    ):
        return
    if keep_alive is not None:
        prestart_kept(parameters, keep_alive)
    elif (
        SparkContext._active_spark_context is None
        and "PYSPARK_GATEWAY_PORT" not in os.environ  # started by spark-submit
        and is_on_one_machine(parameters, os.environ)
    ):
        prestart_session(parameters)
