"""The results of each benchmark, in a file that the repository has: not all need one sitting."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.machine import Environment
from benchmarks.processes import ROOT
from benchmarks.results import Comparison

FILE = ROOT / "docs" / "benchmarks.json"


class DifferentEnvironment(Exception):
    """The results so far are of another machine or of other versions."""


class Incomplete(Exception):
    """Not every benchmark has been run."""


@dataclass(frozen=True)
class Measured:
    """What one benchmark has measured.

    Attributes:
        commit: the last commit that had changed the adapter.
        comparisons: its comparisons.
    """

    commit: str
    comparisons: tuple[Comparison, ...]

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Measured":
        """Read what ``dataclasses.asdict`` gave."""
        comparisons = tuple(Comparison.from_json(each) for each in values["comparisons"])
        return cls(values["commit"], comparisons)


@dataclass(frozen=True)
class Results:
    """Results of one machine and one set of versions.

    Attributes:
        environment: the machine and the versions.
        measured: by benchmark.
    """

    environment: Environment
    measured: Mapping[str, Measured] = field(default_factory=dict)

    @property
    def comparisons(self) -> list[Comparison]:
        """The comparisons of all benchmarks."""
        return [each for one in self.measured.values() for each in one.comparisons]

    def require(self, environment: Environment) -> None:
        """Make sure that new results may stand beside these.

        Args:
            environment: where the new ones are made.

        Raises:
            DifferentEnvironment: it is another one.
        """
        differences = self.environment.differences(environment)
        if differences:
            raise DifferentEnvironment(
                f"The results in {FILE} are of another machine or other versions, and can't stand "
                "on one page with new ones:\n  "
                + "\n  ".join(differences)
                + "\nA run of all benchmarks replaces them."
            )

    def with_result(self, name: str, measured: Measured) -> "Results":
        """Give the results with those of one benchmark, in place of its earlier ones."""
        return replace(self, measured={**self.measured, name: measured})

    def in_order(self, names: Iterable[str]) -> "Results":
        """Give the results of all benchmarks, in their order.

        Args:
            names: the names of the benchmarks.

        Raises:
            Incomplete: one has not been run.
        """
        wanted = [*names]
        missing = [name for name in wanted if name not in self.measured]
        if missing:
            raise Incomplete(
                f"There is no result yet of: {', '.join(missing)}. "
                f"Run: python -m benchmarks {' '.join(missing)}"
            )
        return replace(self, measured={name: self.measured[name] for name in wanted})

    def to_text(self) -> str:
        """Render the results for a file."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def from_text(cls, text: str) -> "Results":
        """Read what ``to_text`` gave."""
        document = json.loads(text)
        measured = {name: Measured.from_json(each) for name, each in document["measured"].items()}
        return cls(Environment(**document["environment"]), measured)


def load(environment: Environment, file: Path = FILE) -> Results:
    """Read the results so far.

    Args:
        environment: this one.
        file: where they are.

    Returns:
        The results; none where there is no file.

    Raises:
        DifferentEnvironment: they are of another machine or of other versions.
    """
    if not file.exists():
        return Results(environment)
    results = Results.from_text(file.read_text(encoding="utf-8"))
    results.require(environment)
    return results


def save(results: Results, file: Path = FILE) -> None:
    """Write results to the file, in place of those that it has."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(results.to_text(), encoding="utf-8")
