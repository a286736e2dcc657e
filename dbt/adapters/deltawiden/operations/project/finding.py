"""What a check of a project finds, and its results as text, JSON and Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from dbt.adapters.deltawiden.operations.forecast.markdown import escaped, markdown_table


class Effect(Enum):
    """What a difference does to the next run."""

    STOPS = "stops"
    CHANGES = "changes"
    UNCHECKED = "is not checked"


@dataclass(frozen=True)
class Finding:
    """A difference from dbt-spark in a project.

    Attributes:
        kind: the kind of difference, the same text for each of its kind.
        file: the path of the file, from the project's folder. Empty for what is only in Spark.
        line: the number of the line, from 1; 0 without a file.
        text: what was found.
        do: what to do about it.
    """

    kind: str
    effect: Effect
    file: str
    line: int
    text: str
    do: str

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.file}:{self.line}" if self.file else "in Spark"

    @property
    def value(self) -> dict[str, Any]:
        """The finding as a value for JSON."""
        named = ("kind", "file", "line", "text", "do")
        return {**{name: getattr(self, name) for name in named}, "effect": self.effect.value}


@dataclass(frozen=True)
class ProjectResults:
    """The differences from dbt-spark in a project."""

    OUTPUTS: ClassVar = ("text", "json", "markdown")

    findings: Sequence[Finding]
    operation: str = "check_project"

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document of the results."""
        found = [finding.value for finding in self.findings]
        return {"operation": self.operation, "findings": found, "failed": len(self.failed)}

    @property
    def text(self) -> str:
        """The results for people."""
        blocks = (
            f"{each.place}: {each.kind} ({each.effect.value})\n"
            + "\n".join(f"    {line}" for line in [*each.text.splitlines(), f"Do: {each.do}"])
            for each in self.findings
        )
        return "\n\n".join(blocks) or _NOTHING

    @property
    def markdown(self) -> str:
        """The results as Markdown."""
        if not self.findings:
            return f"## {self.operation}\n\n{_NOTHING}"
        rows = [
            [*map(escaped, (each.place, each.kind, each.effect.value, each.text, each.do))]
            for each in self.findings
        ]
        headings = ("where", "what", "the next run", "details", "do")
        return f"## {self.operation}\n\n{markdown_table(headings, rows)}"

    @property
    def failed(self) -> list[Finding]:
        """The findings with which the next run stops, or does something else than dbt-spark's."""
        return [each for each in self.findings if each.effect is not Effect.UNCHECKED]

    @property
    def failure_text(self) -> str:
        """The error message."""
        return (
            f"{self.operation}: {len(self.failed)} of {len(self.findings)} findings stop or change "
            "the next run"
        )


_NOTHING = "Nothing in this project differs from dbt-spark."
