"""Start Spark while dbt parses the project: the two are independent, and each takes seconds."""

from dbt.flags import get_flags
from pyspark import SparkContext

from dbt.adapters.deltawiden.spark.keep_alive.session import prestart_kept
from dbt.adapters.deltawiden.spark.session import prestart_session
from dbt.adapters.deltawiden.spark.start import SparkStart

# The dbt commands that always use Spark, by the name in dbt's flag WHICH.
_COMMANDS = frozenset(
    {
        *("build", "clone", "freshness", "generate", "retry", "run"),
        *("run-operation", "seed", "show", "snapshot", "test"),
    }
)


# Operations that never use it.
_WITHOUT_SPARK = frozenset({"stop_spark"})


def needs_spark() -> bool:
    """Return whether this dbt command will use Spark."""
    flags = get_flags()
    is_without = getattr(flags, "MACRO", None) in _WITHOUT_SPARK
    return getattr(flags, "WHICH", None) in _COMMANDS and not is_without


def prestart(start: SparkStart, keep_alive: int | None = None) -> None:
    """Start the embedded Spark in the background, with the seconds that it is kept alive, or None.

    Nothing is requested from a cluster before it is certain that there is work for it.
    """
    if keep_alive is not None:
        prestart_kept(start, keep_alive)
        return
    has_spark = start.is_submitted or SparkContext._active_spark_context is not None
    if start.is_on_one_machine and not has_spark:
        prestart_session(start)
