"""Keep the results of the benchmarks in a file, so that they can be run one at a time."""

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
    """The saved results are from another machine or other versions."""


class Incomplete(Exception):
    """At least one benchmark has no result."""


@dataclass(frozen=True)
class Measured:
    """The result of one benchmark.

    Attributes:
        commit: the last commit before the measurement that changed the adapter.
        comparisons: the comparisons of the benchmark.
    """

    commit: str
    comparisons: tuple[Comparison, ...]

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Measured":
        """Create a result from the output of ``dataclasses.asdict``."""
        comparisons = tuple(map(Comparison.from_json, values["comparisons"]))
        return cls(values["commit"], comparisons)


@dataclass(frozen=True)
class Results:
    """The results from one machine and one set of versions.

    Attributes:
        environment: the machine and the versions.
        measured: the results by benchmark.
    """

    environment: Environment
    measured: Mapping[str, Measured] = field(default_factory=dict)

    @property
    def comparisons(self) -> list[Comparison]:
        """The comparisons of all benchmarks."""
        return [
            comparison for result in self.measured.values() for comparison in result.comparisons
        ]

    def require(self, environment: Environment) -> None:
        """Check that new results can be added to these.

        Args:
            environment: the environment of the new results.

        Raises:
            DifferentEnvironment: it differs from the environment of these results.
        """
        differences = self.environment.differences(environment)
        if differences:
            raise DifferentEnvironment(
                f"The results in {FILE} are from another machine or other versions. New results "
                "can't be added to them:\n  "
                + "\n  ".join(differences)
                + "\nTo replace them, run all benchmarks."
            )

    def with_result(self, name: str, measured: Measured) -> "Results":
        """Return the results with a new result of one benchmark, which replaces an earlier one."""
        return replace(self, measured={**self.measured, name: measured})

    def in_order(self, names: Iterable[str]) -> "Results":
        """Return the results in the order of the benchmarks.

        Args:
            names: the names of all benchmarks, in order.

        Raises:
            Incomplete: a benchmark has no result.
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
        """Render the results as the text of a file."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def from_text(cls, text: str) -> "Results":
        """Read the results from the output of ``to_text``."""
        document = json.loads(text)
        measured = {name: Measured.from_json(data) for name, data in document["measured"].items()}
        return cls(Environment(**document["environment"]), measured)


def load(environment: Environment, file: Path = FILE) -> Results:
    """Read the saved results.

    Args:
        environment: the current environment.
        file: the file with the results.

    Returns:
        The results. They are empty if the file does not exist.

    Raises:
        DifferentEnvironment: the results are from another machine or other versions.
    """
    if not file.exists():
        return Results(environment)
    results = Results.from_text(file.read_text(encoding="utf-8"))
    results.require(environment)
    return results


def save(results: Results, file: Path = FILE) -> None:
    """Write results to a file, and replace the results in it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(results.to_text(), encoding="utf-8")
