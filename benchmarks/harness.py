"""Two programs measured in turns, so that what slows the machine down for a while slows both."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.results import Comparison

Measures = Mapping[str, float]
"""What one round of one program measured: seconds by name."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, as the command line and the page know it.

    Attributes:
        name: its name on the command line.
        method: how it measures, in a sentence or two of Markdown.
        measure: runs it; told whether to do so with tiny sizes, it gives its comparisons.
    """

    name: str
    method: str
    measure: Callable[[bool], list[Comparison]]


@dataclass(frozen=True)
class Rounds:
    """How often each program is run.

    Attributes:
        measured: the rounds that count.
        warm_up: the rounds before them, which fill the caches of disk and dbt.
    """

    measured: int
    warm_up: int

    @classmethod
    def of(cls, quick: bool) -> "Rounds":
        """Give the rounds of a full run, or of a quick one, which only shows that it works."""
        return cls(1, 0) if quick else cls(5, 1)


def in_turns(
    programs: Mapping[str, Callable[[], Measures]], rounds: Rounds
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Run each program once a round, in the same order in every round: A B A B.

    Args:
        programs: by name, what runs one once and gives what it measured.
        rounds: how often.

    Returns:
        By program and by measure, the seconds of the measured rounds.
    """
    taken: dict[str, list[Measures]] = {name: [] for name in programs}
    for number in range(rounds.warm_up + rounds.measured):
        for name, program in programs.items():
            start = time.perf_counter()
            measures = program()
            is_warm_up = number < rounds.warm_up
            _tell(name, "warm-up" if is_warm_up else f"round {number - rounds.warm_up + 1}", start)
            if not is_warm_up:
                taken[name].append(measures)
    return {
        name: {measure: tuple(each[measure] for each in runs) for measure in runs[0]}
        for name, runs in taken.items()
    }


def _tell(name: str, what: str, start: float) -> None:
    print(f"  {name}: {what}, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
