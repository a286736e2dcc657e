"""The results of a benchmark: the values of two programs, their ratio and its aim."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sample:
    """The measured rounds of one program.

    Attributes:
        program: a short description of the program.
        seconds: one value for each round, at least one. Not seconds if the comparison has a unit.
    """

    program: str
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.seconds:
            raise ValueError(f"{self.program} was not measured")

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The lowest and the highest value of the rounds."""
        return min(self.seconds), max(self.seconds)


@dataclass(frozen=True)
class Comparison:
    """Two samples of the same work, measured in turns.

    Attributes:
        work: a description of the work.
        ours: the sample that should meet the aim.
        other: the sample that it is compared with.
        aim: the highest ratio that meets our goal, or None.
        unit: the unit of the values, or empty for seconds.
    """

    work: str
    ours: Sample
    other: Sample
    aim: float | None = None
    unit: str = ""

    @property
    def ratio(self) -> float:
        """The median of our sample divided by the median of the other one."""
        return self.ours.median / self.other.median

    @property
    def is_met(self) -> bool | None:
        """Whether the ratio meets the aim, or None if there is no aim."""
        return None if self.aim is None else self.ratio <= self.aim

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Comparison":
        """Create a comparison from the output of ``dataclasses.asdict``."""
        ours, other = (
            Sample(sample["program"], tuple(sample["seconds"]))
            for sample in (values["ours"], values["other"])
        )
        return cls(values["work"], ours, other, values["aim"], values.get("unit", ""))


HEADING = """\
| work | measured | seconds | against | seconds | ratio | aim | |
|---|---|---|---|---|---|---|---|"""


def row(comparison: Comparison) -> str:
    """Render a comparison as a row of the Markdown table that begins with ``HEADING``."""
    ours, other = comparison.ours, comparison.other
    aim = "" if comparison.aim is None else f"<= {comparison.aim:g}"
    met = {True: "met", False: "**not met**", None: ""}[comparison.is_met]
    first, second = (_values(sample, comparison.unit) for sample in (ours, other))
    cells = (
        *(comparison.work, ours.program, first, other.program, second),
        *(_significant(comparison.ratio, 3), aim, met),
    )
    return f"| {' | '.join(cells)} |"


def _values(sample: Sample, unit: str) -> str:
    """Render the median, and the spread in brackets."""
    median, low, high = (_significant(value, 3) for value in (sample.median, *sample.spread))
    return f"{median}{unit and f' {unit}'} ({low} to {high})"


def _significant(value: float, digits: int) -> str:
    """Render a number with a number of significant digits, and never with an exponent."""
    if value == 0:
        return "0"
    decimals = digits - len(f"{int(abs(value))}") if abs(value) >= 1 else digits + _zeros(value)
    return f"{value:.{max(decimals, 0)}f}"


def _zeros(value: float) -> int:
    """Count the zeros after the decimal point of a number below one."""
    return -int(f"{abs(value):e}".partition("e")[2]) - 1
