"""Measure the whole `dbt seed` of one long seed."""

from benchmarks.harness import Benchmark, Rounds
from benchmarks.rental import random_seeds
from benchmarks.results import Comparison
from benchmarks.seeds import compare_seeds

LONG, LONG_QUICK = 30_000, 1_000
METHOD = f"""\
`dbt seed` of one seed of {LONG:,} rows and eight columns. There is no table before. The
configuration is that of `project`. The seconds are from the start of the process to the end of the
dbt command.

There is one round and no warm-up, because dbt-spark takes long for it."""
PROJECT_FILE = """\
name: rides
profile: bench
seeds:
  +file_format: delta
"""


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The long seed.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    rows = LONG_QUICK if quick else LONG
    texts = {
        "dbt_project.yml": PROJECT_FILE,
        "seeds/raw_rides.csv": random_seeds(rows)["raw_rides"],
    }
    work = f"`dbt seed` of one seed of {rows:,} rows, whole"
    return [compare_seeds(work, texts, Rounds(1, 0), aim=0.1)]


BENCHMARK = Benchmark("long_seed", METHOD, measure)
