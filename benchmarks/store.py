"""Keep the results of the benchmarks in a file, so that they can be run one at a time."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.machine import Environment
from benchmarks.processes import ROOT
from benchmarks.results import Comparison

FILE = ROOT / "docs" / "benchmarks.json"


@dataclass(frozen=True)
class Measured:
    """The result of one benchmark, which measures all its programs in one environment.

    Attributes:
        commit: the last commit before the measurement that changed the adapter.
        environment: the machine and the versions.
        comparisons: the comparisons of the benchmark.
    """

    commit: str
    environment: Environment
    comparisons: tuple[Comparison, ...]

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Measured":
        """Create a result from the output of ``dataclasses.asdict``."""
        comparisons = tuple(map(Comparison.from_json, values["comparisons"]))
        return cls(values["commit"], Environment(**values["environment"]), comparisons)


@dataclass(frozen=True)
class Results:
    """The results of benchmarks, each from the environment of its last measurement.

    Attributes:
        measured: the results by benchmark.
    """

    measured: Mapping[str, Measured] = field(default_factory=dict)

    @property
    def comparisons(self) -> list[Comparison]:
        """The comparisons of all benchmarks."""
        return [
            comparison for result in self.measured.values() for comparison in result.comparisons
        ]

    @property
    def environments(self) -> list[Environment]:
        """The environments of the results, each once, in the order of the results."""
        found: list[Environment] = []
        for result in self.measured.values():
            if result.environment not in found:
                found.append(result.environment)
        return found

    def with_result(self, name: str, measured: Measured) -> "Results":
        """Return the results with a new result of one benchmark, which replaces an earlier one."""
        return Results({**self.measured, name: measured})

    def in_order(self, names: Iterable[str]) -> "Results":
        """Return the results of some benchmarks, in their order.

        Args:
            names: the names of the benchmarks. One without a result is left out.
        """
        return Results({name: self.measured[name] for name in names if name in self.measured})

    def to_text(self) -> str:
        """Render the results as the text of a file."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def from_text(cls, text: str) -> "Results":
        """Read the results from the output of ``to_text``."""
        measured = json.loads(text)["measured"]
        return cls({name: Measured.from_json(values) for name, values in measured.items()})


def load(file: Path = FILE) -> Results:
    """Read the saved results.

    Args:
        file: the file with the results.

    Returns:
        The results. There are none if the file does not exist.
    """
    return Results.from_text(file.read_text(encoding="utf-8")) if file.exists() else Results()


def save(results: Results, file: Path = FILE) -> None:
    """Write results to a file, and replace the results in it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(results.to_text(), encoding="utf-8")
