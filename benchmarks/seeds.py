"""Measure the whole `dbt seed`."""

from collections.abc import Mapping
from functools import partial

from benchmarks.harness import Benchmark, Measures, Rounds, in_turns
from benchmarks.newcomer import with_the_threads_of_init
from benchmarks.processes import work_folder
from benchmarks.project import RIDES, RIDES_QUICK
from benchmarks.rental import Rental, files
from benchmarks.results import Comparison, Sample
from benchmarks.workspace import OURS, THEIRS, Program

METHOD = """\
`dbt seed` of the six seeds of `project`. There are no tables before. The configuration is that of
`project`. The seconds are from the start of the process to the end of the dbt command."""


def measure(quick: bool) -> list[Comparison]:
    """Run the benchmark.

    Args:
        quick: whether to use tiny sizes, only to test the code.

    Returns:
        The seeds of the project.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    texts = files(RIDES_QUICK if quick else RIDES)
    work = "`dbt seed` of the six seeds of that project, whole"
    return [compare_seeds(work, texts, Rounds.of(quick), aim=0.4)]


def compare_seeds(work: str, texts: Mapping[str, str], rounds: Rounds, aim: float) -> Comparison:
    """Compare the whole `dbt seed` of a project, given by its files, with that of dbt-spark."""
    with work_folder() as folder:
        rental = Rental(folder / "seeds", texts)

        def seed(program: Program) -> Measures:
            return {"whole": rental.run(program, "seed")}

        programs = {each.name: partial(seed, each) for each in with_the_threads_of_init()}
        ours, theirs = in_turns(programs, rounds).values()
    return Comparison(work, Sample(OURS, ours["whole"]), Sample(THEIRS, theirs["whole"]), aim)


BENCHMARK = Benchmark("seeds", METHOD, measure)
