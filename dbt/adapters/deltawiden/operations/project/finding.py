"""What a check of a project finds, and its results as text, JSON and Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from dbt.adapters.deltawiden.operations.forecast.markdown import escaped, markdown_table
from dbt.adapters.deltawiden.operations.result import Results


class Severity(Enum):
    """What a difference does to the next run."""

    STOPS = "stops"
    CHANGES = "changes"
    UNCHECKED = "is not checked"


class FileLine(NamedTuple):
    """A line of a file.

    Attributes:
        file: its path from the project's folder, if it is in there.
        line: from 1.
        package: the name of its package; empty in the project itself.
    """

    file: str
    line: int
    package: str = ""

    @property
    def text(self) -> str:
        """The place for people."""
        return f"{self.file}:{self.line}" if self.file else "in Spark"


NOWHERE = FileLine("", 0)
"""The place of what is only in Spark."""


@dataclass(frozen=True)
class Finding:
    """A difference from dbt-spark in a project. Those of one ``kind`` have the same text for it."""

    kind: str
    severity: Severity
    place: FileLine
    text: str
    do: str

    @property
    def value(self) -> dict[str, Any]:
        """The finding as a value for JSON."""
        own = {"kind": self.kind, "effect": self.severity.value, "text": self.text, "do": self.do}
        return {**own, **self.place._asdict()}


@dataclass(frozen=True)
class ProjectResults(Results):
    """The differences from dbt-spark in a project."""

    OUTPUTS = ("text", "json", "markdown")

    findings: Sequence[Finding]
    operation: str = "check_project"

    @property
    def document(self) -> dict[str, Any]:
        found = [finding.value for finding in self.findings]
        return {"operation": self.operation, "findings": found, "failed": len(self.failed)}

    @property
    def text(self) -> str:
        blocks = (
            f"{where}: {each.kind} ({each.severity.value})\n"
            + "\n".join(f"    {line}" for line in [*each.text.splitlines(), f"Do: {each.do}"])
            for where, each in self._shown()
        )
        return "\n\n".join(blocks) or _NOTHING

    @property
    def markdown(self) -> str:
        """The results as Markdown."""
        if not self.findings:
            return f"## {self.operation}\n\n{_NOTHING}"
        rows = [
            [*map(escaped, (where, each.kind, each.severity.value, each.text, each.do))]
            for where, each in self._shown()
        ]
        headings = ("where", "what", "the next run", "details", "do")
        return f"## {self.operation}\n\n{markdown_table(headings, rows)}"

    def _shown(self) -> list[tuple[str, Finding]]:
        """Return the findings for people, with their places. A package has one for all its lines.

        What stops the next run is shown for each line.
        """
        alike: dict[tuple[object, ...], list[Finding]] = {}
        for number, each in enumerate(self.findings):
            is_one = not each.place.package or each.severity is Severity.STOPS
            key = (number,) if is_one else (each.place.package, each.kind, each.do)
            alike.setdefault(key, []).append(each)
        return [(_where(group), group[0]) for group in alike.values()]

    @property
    def failed(self) -> list[Finding]:
        """The findings with which the next run stops, or does something else than dbt-spark's."""
        return [each for each in self.findings if each.severity is not Severity.UNCHECKED]

    @property
    def failure_text(self) -> str:
        return (
            f"{self.operation}: {len(self.failed)} of {len(self.findings)} findings stop or change "
            "the next run"
        )


def _where(alike: Sequence[Finding]) -> str:
    place = alike[0].place
    if len(alike) == 1:
        return place.text
    return f"{len(alike)} lines of {place.package}, such as {place.text}"


_NOTHING = "Nothing in this project differs from dbt-spark."
