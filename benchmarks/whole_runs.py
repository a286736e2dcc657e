"""Compare whole dbt runs of merges."""

from collections.abc import Sequence
from functools import partial

from benchmarks.harness import Measures, Rounds, in_turns
from benchmarks.merge_models import Merges, Size
from benchmarks.processes import work_folder
from benchmarks.results import Comparison, Sample
from benchmarks.workspace import Program


def whole_runs(
    size: Size, rounds: Rounds, programs: Sequence[Program], *options: str
) -> list[Sample]:
    """Run the merges with several programs in turns.

    Args:
        size: the number of models and rows.
        rounds: the number of rounds.
        programs: the programs, each with another name.
        options: options for dbt.

    Returns:
        The whole run of each program, from the start of the process to the end of the dbt command.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    with work_folder() as folder:
        merges = Merges(folder / "merges", size)

        def run_once(program: Program) -> Measures:
            return {"whole": merges.run(program, *options).whole}

        taken = in_turns({each.name: partial(run_once, each) for each in programs}, rounds)
    return [Sample(name, measures["whole"]) for name, measures in taken.items()]


def compare_whole_runs(
    work: str,
    size: Size,
    rounds: Rounds,
    aim: float,
    programs: tuple[Program, Program],
    *options: str,
) -> list[Comparison]:
    """Compare the whole runs of the merges by two programs.

    Args:
        work: a description of the work, for the results.
        size: the number of models and rows.
        rounds: the number of rounds.
        aim: the highest ratio that meets our goal.
        programs: our adapter and dbt-spark.
        options: options for dbt.

    Returns:
        The comparison.

    Raises:
        RunFailed: dbt failed.
        WrongResult: a table has wrong contents.
    """
    ours, theirs = whole_runs(size, rounds, programs, *options)
    return [Comparison(work, ours, theirs, aim)]
