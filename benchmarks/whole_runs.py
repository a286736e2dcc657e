"""Compare whole dbt runs of merges."""

from functools import partial

from benchmarks.harness import Measures, Rounds, in_turns
from benchmarks.merge_models import Merges, Size
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.workspace import OURS, THEIRS, Program


def compare_whole_runs(
    work: str,
    size: Size,
    rounds: Rounds,
    aim: float,
    programs: tuple[Program, Program],
    *options: str,
) -> list[Comparison]:
    """Run the merges with both adapters in turns.

    Args:
        work: a description of the work, for the results.
        size: the number of models and rows.
        rounds: the number of rounds.
        aim: the highest ratio that meets our goal.
        programs: our adapter and dbt-spark.
        options: options for dbt.

    Returns:
        The whole run, from the start of the process to the end of the dbt command.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    with work_folder() as folder:
        merges = Merges(folder / "merges", size)

        def run_once(program: Program) -> Measures:
            return {"whole": merges.run(program, *options).whole}

        taken = in_turns({each.name: partial(run_once, each) for each in programs}, rounds)
    ours, theirs = (Sample(name, taken[name]["whole"]) for name in (OURS, THEIRS))
    return [Comparison(work, ours, theirs, aim)]
