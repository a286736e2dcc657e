"""The results so far, in a file: a full run can be made in several sittings."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.machine import Environment
from benchmarks.processes import BENCH
from benchmarks.results import Comparison

FILE = BENCH / "results.json"


class DifferentEnvironment(Exception):
    """The results so far are of another machine or of other versions."""


class Incomplete(Exception):
    """Not every benchmark has been run."""


@dataclass(frozen=True)
class Results:
    """Results of one machine and one set of versions.

    Attributes:
        environment: the machine and the versions.
        comparisons: by benchmark.
    """

    environment: Environment
    comparisons: Mapping[str, tuple[Comparison, ...]] = field(default_factory=dict)

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
                + "\nRemove that file and run all benchmarks again, or go back to what it has."
            )

    def with_result(self, name: str, comparisons: Iterable[Comparison]) -> "Results":
        """Give the results with those of one benchmark, in place of its earlier ones."""
        return replace(self, comparisons={**self.comparisons, name: tuple(comparisons)})

    def in_order(self, names: Iterable[str]) -> "Results":
        """Give the results of all benchmarks, in their order.

        Args:
            names: the names of the benchmarks.

        Raises:
            Incomplete: one has not been run.
        """
        wanted = [*names]
        missing = [name for name in wanted if name not in self.comparisons]
        if missing:
            raise Incomplete(
                f"There is no result yet of: {', '.join(missing)}. "
                f"Run: python -m benchmarks {' '.join(missing)}"
            )
        return replace(self, comparisons={name: self.comparisons[name] for name in wanted})

    def to_text(self) -> str:
        """Render the results for a file."""
        document = {
            "environment": self.environment.to_json(),
            "comparisons": {
                name: [each.to_json() for each in comparisons]
                for name, comparisons in self.comparisons.items()
            },
        }
        return json.dumps(document, indent=2) + "\n"

    @classmethod
    def from_text(cls, text: str) -> "Results":
        """Read what ``to_text`` gave."""
        document = json.loads(text)
        comparisons = {
            name: tuple(Comparison.from_json(each) for each in values)
            for name, values in document["comparisons"].items()
        }
        return cls(Environment(**document["environment"]), comparisons)


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
