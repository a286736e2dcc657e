"""Render the results of ``audit_lossy_writes`` for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.operations.result import OperationResults, text_table
from dbt.adapters.deltawiden.sql.identifiers import path_text


class AuditResults(OperationResults):
    """The results of the audit of all models."""

    @property
    def text(self) -> str:
        """The rows of each table, the columns with values that differ, and what was assumed."""
        summary = super().text
        if not summary:
            return ""
        rows = [row for result in self.each for row in _rows(result.table, result.values)]
        parts = [summary, *([text_table(rows)] if rows else []), self._assumptions(bool(rows))]
        return "\n\n".join(parts)

    def _assumptions(self, any_differs: bool) -> str:
        zone = self.values["time_zone"]
        lines = [
            "The stored values were compared with what the models produce now, as in a full "
            f"refresh. Timestamps were read in the time zone {zone}. Nothing was changed."
        ]
        if any_differs:
            lines += [
                "by a cast: the stored value is the produced one after a cast to the type of the "
                "column, or to a type that the column had before.",
                "other rows: the sources or the model have changed since the row was written, or "
                "the query does not return the same values each time.",
            ]
        return "\n".join(lines)


def _rows(table: str, values: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for column in values.get("columns", ()):
        example = next(iter(column["examples"]))
        yield {
            "table": table,
            "column": path_text(tuple(column["path"])),
            "produced as": column["produced_type"],
            "stored as": column["stored_type"],
            "rows": f"{column['rows']:,}",
            "by a cast": f"{column['changed_by_cast']:,}",
            "for example": ", ".join(f"{key} {_shown(v)}" for key, v in example["key"].items()),
            "produced": _shown(example["produced"]),
            "stored": _shown(example["stored"]),
        }


def _shown(value: str | None) -> str:
    if value is None:
        return "null"
    # Otherwise nobody sees the spaces of a char.
    return f"'{value}'" if value != value.strip() or not value else value
