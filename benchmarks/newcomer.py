"""Measure the merges of ``merges`` with the configuration of a new user."""

import shlex

from benchmarks.harness import Benchmark, Rounds
from benchmarks.merge_models import Size
from benchmarks.results import Comparison
from benchmarks.whole_runs import compare_whole_runs
from benchmarks.workspace import OUR_TARGET, OURS, THEIR_TARGET, THEIRS, Program
from dbt.adapters.deltawiden.spark.settings import start_settings

METHOD = """\
The same `dbt run`, with the configuration of a new user:

- dbt-deltawiden has a profile with `type` and `schema`.
- dbt-spark has the profile that dbt's documentation shows for `method: session`.
  `PYSPARK_SUBMIT_ARGS` has the options that Delta's documentation shows for PySpark (package,
  extension, catalog).

All other settings have their default values."""

# https://docs.delta.io/quick-start/, "PySpark shell"
_FROM_DELTAS_PAGE = ("spark.sql.extensions", "spark.sql.catalog.spark_catalog")


def programs() -> tuple[Program, Program]:
    """Return both adapters, with only the configuration that they need for Delta."""
    settings = start_settings({}, {})
    options = ["--packages", settings["spark.jars.packages"]]
    for key in _FROM_DELTAS_PAGE:
        options += ["--conf", f"{key}={settings[key]}"]
    submit = shlex.join([*options, "pyspark-shell"])
    return Program(OURS, OUR_TARGET), Program(THEIRS, THEIR_TARGET, submit_arguments=submit)


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The whole run.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    work = "the same run as a newcomer gets it, whole"
    return compare_whole_runs(work, Size.of(quick), Rounds.of(quick), 0.4, programs())


BENCHMARK = Benchmark("newcomer", METHOD, measure)
