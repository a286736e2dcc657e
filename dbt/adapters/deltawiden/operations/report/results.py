"""The results of ``report_type_widening``: the state of the tables, and their type changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbt.adapters.deltawiden.delta.change_history import DatedChange
from dbt.adapters.deltawiden.operations.result import OperationResults, text_table
from dbt.adapters.deltawiden.sql.identifiers import path_text
from dbt.adapters.deltawiden.sql.types import type_text


@dataclass(frozen=True)
class ReportResults(OperationResults):
    """The results of ``report_type_widening`` for all tables."""

    OUTPUTS = ("text", "json", "html")

    changes: Mapping[str, Sequence[DatedChange]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The results without errors as tables for people, empty if there are none."""
        rows = [_row(table, change) for table, made in self.changes.items() for change in made]
        return "\n\n".join(filter(None, [super().text, text_table(rows) if rows else ""]))


def _row(table: str, dated: DatedChange) -> dict[str, str]:
    return {
        "table": table,
        "when": dated.time_text,
        "column": path_text(dated.change.path),
        "from": type_text(dated.change.from_type),
        "to": type_text(dated.change.to_type),
        "by": dated.maker,
        "invocation": dated.invocation_id or "-",
    }
