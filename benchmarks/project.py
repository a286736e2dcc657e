"""Measure the whole `dbt build` of a small project."""

from functools import partial

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.newcomer import with_the_threads_of_init
from benchmarks.processes import work_folder
from benchmarks.rental import Rental, files
from benchmarks.results import Comparison, Sample
from benchmarks.workspace import OURS, THEIRS, Program

RIDES, RIDES_QUICK = 2_000, 240
MARTS = ("bikes", "members", "rides", "station_days", "stations")
AIM = 0.7
ROUNDS = 3
METHOD = f"""\
`dbt build` of the project of a bicycle rental (`benchmarks/bicycle_rental/`): 6 seeds, of which the
largest has {RIDES:,} rows, 8 views, 3 tables, 2 incremental models (`merge`), 27 data tests and 3
unit tests.

The first build starts without any table. The second build follows in the same folder. It loads the
seeds again, replaces the views and tables, and merges the rows of the last days.

Both adapters have the configuration of a new user, as in `newcomer`, and build 4 models at a time,
which is the number of `dbt init`. The seconds are from the start of the process to the end of the
dbt command. Only {ROUNDS} rounds are measured, because each has four builds."""
FIRST, AGAIN = "the first `dbt build` of a project of 13 models, whole", "the second one"


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The first build, and the second one.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    with work_folder() as folder:
        rental = Rental(folder / "project", files(RIDES_QUICK if quick else RIDES), MARTS)

        def build_twice(program: Program) -> Measures:
            first = rental.run(program, "build")
            return {FIRST: first, AGAIN: rental.run(program, "build", after_last=True)}

        programs = {each.name: partial(build_twice, each) for each in with_the_threads_of_init()}
        ours, theirs = in_turns(programs, Rounds.of(quick, ROUNDS)).values()
    return [
        Comparison(work, Sample(OURS, ours[work]), Sample(THEIRS, theirs[work]), AIM)
        for work in (FIRST, AGAIN)
    ]


BENCHMARK = Benchmark("project", METHOD, measure)
