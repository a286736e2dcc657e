"""What a benchmark measured: the seconds of two programs, and their ratio against an aim."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sample:
    """The measured rounds of one program.

    Attributes:
        program: what was measured, in a few words.
        seconds: one value a round; at least one.
    """

    program: str
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.seconds:
            raise ValueError(f"{self.program} was not measured")

    @property
    def median(self) -> float:
        """The median of the rounds, in seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The fastest and the slowest round, in seconds."""
        return min(self.seconds), max(self.seconds)


@dataclass(frozen=True)
class Comparison:
    """Two samples of one piece of work, measured in turns.

    Attributes:
        work: the work.
        ours: the sample that the aim is for.
        other: what it is held against.
        aim: the ratio that is wanted at most; None where there is none.
    """

    work: str
    ours: Sample
    other: Sample
    aim: float | None = None

    @property
    def ratio(self) -> float:
        """The median of ours as a part of the other's."""
        return self.ours.median / self.other.median

    @property
    def is_met(self) -> bool | None:
        """Whether the ratio is within the aim; None where there is no aim."""
        return None if self.aim is None else self.ratio <= self.aim

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Comparison":
        """Read what ``dataclasses.asdict`` gave."""
        ours, other = (
            Sample(each["program"], tuple(each["seconds"]))
            for each in (values["ours"], values["other"])
        )
        return cls(values["work"], ours, other, values["aim"])


HEADING = """\
| work | measured | seconds | against | seconds | ratio | aim | |
|---|---|---|---|---|---|---|---|"""


def row(comparison: Comparison) -> str:
    """Render a comparison as a row of a Markdown table with ``HEADING``."""
    ours, other = comparison.ours, comparison.other
    aim = "" if comparison.aim is None else f"<= {comparison.aim:g}"
    met = {True: "met", False: "**not met**", None: ""}[comparison.is_met]
    cells = (
        *(comparison.work, ours.program, _seconds(ours), other.program, _seconds(other)),
        *(_significant(comparison.ratio, 3), aim, met),
    )
    return f"| {' | '.join(cells)} |"


def _seconds(sample: Sample) -> str:
    """The median, and the spread in brackets."""
    median, low, high = (_significant(each, 3) for each in (sample.median, *sample.spread))
    return f"{median} ({low} to {high})"


def _significant(value: float, digits: int) -> str:
    """Render a number with so many digits that count, and never with an exponent."""
    if value == 0:
        return "0"
    decimals = digits - len(f"{int(abs(value))}") if abs(value) >= 1 else digits + _zeros(value)
    return f"{value:.{max(decimals, 0)}f}"


def _zeros(value: float) -> int:
    """Count the zeros that follow the point of a number below one."""
    return -int(f"{abs(value):e}".partition("e")[2]) - 1
