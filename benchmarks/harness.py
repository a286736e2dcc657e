"""Measure programs in turns. If the machine is slow for a while, this affects all of them."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.results import Comparison

Measures = Mapping[str, float]
"""The measurements of one round of one program by name: seconds, or the peak memory in GB."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    Attributes:
        name: its name on the command line and on the page.
        method: a description of what it measures, in Markdown.
        measure: runs it and returns its comparisons. The argument is whether to use tiny sizes.
    """

    name: str
    method: str
    measure: Callable[[bool], list[Comparison]]


@dataclass(frozen=True)
class Rounds:
    """The number of rounds of a benchmark. In each round, every program runs once.

    Attributes:
        measured: the number of rounds that are measured.
        warm_up: the number of rounds before them, which fill the caches of the disk and of dbt.
    """

    measured: int
    warm_up: int

    @classmethod
    def of(cls, quick: bool, measured: int = 5) -> "Rounds":
        """Return the rounds of a full run, or of a quick run that only tests the code."""
        return cls(1, 0) if quick else cls(measured, 1)


def in_turns(
    programs: Mapping[str, Callable[[], Measures]], rounds: Rounds
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Run every program once in each round, always in the same order: A B A B.

    Args:
        programs: functions that run a program once and return its measurements, by name.
        rounds: the number of rounds.

    Returns:
        The measured rounds, by program and by name of the measurement.
    """
    taken: dict[str, list[Measures]] = {name: [] for name in programs}
    for number in range(rounds.warm_up + rounds.measured):
        for name, program in programs.items():
            start = time.perf_counter()
            measures = program()
            is_warm_up = number < rounds.warm_up
            label = "warm-up" if is_warm_up else f"round {number - rounds.warm_up + 1}"
            _print_progress(name, label, start)
            if not is_warm_up:
                taken[name].append(measures)
    return {
        name: {measure: tuple(run[measure] for run in runs) for measure in runs[0]}
        for name, runs in taken.items()
    }


def _print_progress(name: str, label: str, start: float) -> None:
    print(f"  {name}: {label}, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
