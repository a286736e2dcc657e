"""Measure the merges of ``merges`` with the configuration of a new user."""

import shlex
from dataclasses import replace
from importlib.resources import files

import yaml

from benchmarks.harness import Benchmark, Rounds
from benchmarks.merge_models import Size
from benchmarks.results import Comparison
from benchmarks.whole_runs import whole_runs
from benchmarks.workspace import OUR_TARGET, OURS, THEIR_TARGET, THEIRS, Program
from dbt.adapters.deltawiden.spark.start import SparkStart


def _threads_of_init() -> int:
    template = files("dbt.include.deltawiden").joinpath("profile_template.yml").read_text()
    threads: int = yaml.safe_load(template)["prompts"]["threads"]["default"]
    return threads


AIM = 0.28
METHOD = f"""\
The same `dbt run`, with the configuration of a new user:

- dbt-deltawiden has the smallest profile that it accepts, with `type` and `schema`. dbt then builds
  one model at a time.
- dbt-deltawiden of `dbt init` has the profile that `dbt init` writes if its questions get the
  default answers. It builds {_threads_of_init()} models at a time.
- dbt-spark has the profile that dbt's documentation shows for `method: session`, which builds one
  model at a time. `PYSPARK_SUBMIT_ARGS` has the options that Delta's documentation shows for
  PySpark (package, extension, catalog).

All other settings have their default values."""

# https://docs.delta.io/quick-start/, "PySpark shell"
_FROM_DELTAS_PAGE = ("spark.sql.extensions", "spark.sql.catalog.spark_catalog")


def programs() -> tuple[Program, Program, Program]:
    """Return our adapter with two profiles, and dbt-spark, with only what they need for Delta."""
    settings = SparkStart.read({}, {}).settings
    options = ["--packages", settings["spark.jars.packages"]]
    for key in _FROM_DELTAS_PAGE:
        options += ["--conf", f"{key}={settings[key]}"]
    submit = shlex.join([*options, "pyspark-shell"])
    return (
        Program(OURS, OUR_TARGET),
        Program(f"{OURS} of `dbt init`", {**OUR_TARGET, "threads": _threads_of_init()}),
        Program(THEIRS, THEIR_TARGET, submit_arguments=submit),
    )


def with_the_threads_of_init() -> tuple[Program, Program]:
    """Return our adapter and dbt-spark of ``programs``, both with the threads of `dbt init`."""
    _, ours, theirs = programs()
    threads = {"threads": _threads_of_init()}
    return replace(ours, name=OURS), replace(theirs, target={**theirs.target, **threads})


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The whole run, compared for both profiles of our adapter.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    smallest, of_init, theirs = whole_runs(Size.of(quick), Rounds.of(quick), programs())
    work = "the same run as a newcomer gets it, whole"
    return [Comparison(work, smallest, theirs, AIM), Comparison("the same", of_init, theirs, AIM)]


BENCHMARK = Benchmark("newcomer", METHOD, measure)
