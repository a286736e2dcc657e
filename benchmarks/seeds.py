"""Measure the whole `dbt seed`."""

from collections.abc import Mapping
from functools import partial

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.newcomer import with_the_threads_of_init
from benchmarks.processes import work_folder
from benchmarks.project import RIDES, RIDES_QUICK, ROUNDS
from benchmarks.rental import Rental, files, random_seeds
from benchmarks.results import Comparison, Sample
from benchmarks.workspace import OURS, THEIRS, Program

LONG, LONG_QUICK = 30_000, 1_000
METHOD = f"""\
`dbt seed` of the six seeds of `project`, and `dbt seed` of one seed of {LONG:,} rows and eight
columns. There are no tables before. The configuration is that of `project`. The seconds are from
the start of the process to the end of the dbt command.

Only {ROUNDS} rounds of the long seed are measured, because dbt-spark takes long for it."""
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
        The seeds of the project, and the long seed.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    rides, long = (RIDES_QUICK, LONG_QUICK) if quick else (RIDES, LONG)
    one = {
        "dbt_project.yml": PROJECT_FILE,
        "seeds/raw_rides.csv": random_seeds(long)["raw_rides"],
    }
    return [
        _compare(
            "`dbt seed` of the six seeds of that project, whole",
            files(rides),
            Rounds.of(quick),
            aim=0.4,
        ),
        _compare(
            f"`dbt seed` of one seed of {long:,} rows, whole",
            one,
            Rounds.of(quick, ROUNDS),
            aim=0.1,
        ),
    ]


def _compare(work: str, texts: Mapping[str, str], rounds: Rounds, aim: float) -> Comparison:
    with work_folder() as folder:
        rental = Rental(folder / "seeds", texts)

        def seed(program: Program) -> Measures:
            return {"whole": rental.run(program, "seed")}

        programs = {each.name: partial(seed, each) for each in with_the_threads_of_init()}
        ours, theirs = in_turns(programs, rounds).values()
    return Comparison(work, Sample(OURS, ours["whole"]), Sample(THEIRS, theirs["whole"]), aim)


BENCHMARK = Benchmark("seeds", METHOD, measure)
