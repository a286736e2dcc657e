"""Measure a merge that takes so long that the start of Spark does not matter."""

from benchmarks.harness import Benchmark, Rounds
from benchmarks.merge_models import Size, merged
from benchmarks.results import Comparison
from benchmarks.whole_runs import compare_whole_runs
from benchmarks.workspace import with_the_same_spark

FULL = Size(models=1, rows=50_000_000, files=50)
QUICK = Size(models=1, rows=10_000)
METHOD = f"""\
One `dbt run` of one of the models of `merges`, with a table of {FULL.rows:,} rows in {FULL.files}
files. It merges {FULL.rows // 5:,} rows, of which half are new. The Spark settings are those of
`merges`. The seconds are from the start of the process to the end of the dbt command."""


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
    first, end = merged(size)
    work = f"a merge of {end - first:,} rows into {size.rows:,}: the whole run"
    return compare_whole_runs(work, size, Rounds.of(quick), 1.0, with_the_same_spark())


BENCHMARK = Benchmark("large_merge", METHOD, measure)
