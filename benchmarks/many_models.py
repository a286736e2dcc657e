"""Measure a run of many small models with several threads."""

from benchmarks.harness import Benchmark, Rounds
from benchmarks.merge_models import Size
from benchmarks.results import Comparison
from benchmarks.whole_runs import compare_whole_runs
from benchmarks.workspace import with_the_same_spark

THREADS = 4
FULL, QUICK = Size(models=200, rows=1_000), Size(models=5, rows=1_000)
METHOD = f"""\
One `dbt run` of {FULL.models} of the models of `merges` with {THREADS} threads. Each table has
{FULL.rows:,} rows in {FULL.files} files. The Spark settings are those of `merges`. The seconds are
from the start of the process to the end of the dbt command."""


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
    size = QUICK if quick else FULL
    work = f"{size.models} incremental models, {THREADS} threads: the whole run"
    options = ("--threads", str(THREADS))
    programs = with_the_same_spark()
    return compare_whole_runs(work, size, Rounds.of(quick), 0.6, programs, *options)


BENCHMARK = Benchmark("many_models", METHOD, measure)
