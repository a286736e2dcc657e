"""``audit_lossy_writes``: find the stored values that are not the ones that the model produces."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.operations.audit.compared import Compared
from dbt.adapters.deltawiden.operations.audit.model_rows import ModelRows, RowsReader, column_rows
from dbt.adapters.deltawiden.operations.audit.query import COUNTS
from dbt.adapters.deltawiden.operations.audit.restore_values import restore_command
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    OperationResults,
    log_progress,
    run_on_each,
    text_table,
)
from dbt.adapters.deltawiden.operations.selection import Names, Node, full_name
from dbt.adapters.deltawiden.widening.matched_rows import NotCompared
from dbt.adapters.deltawiden.writes.model_views import ModelViews

_NAME = "audit_lossy_writes"
_ABOUT_SNAPSHOTS = (
    "is a snapshot, whose rows no operation changes. With strategy: check and type_widening: true, "
    "the next dbt snapshot widens the column and adds a version with the value of now. With "
    "strategy: timestamp, such a version comes with the next change of the row in its source."
)


class AuditResults(OperationResults):
    """The results of the audit of all models."""

    @property
    def text(self) -> str:
        summary = super().text
        if not summary:
            return ""
        rows = [
            row
            for result in self.each
            for row in column_rows(result.table, result.values.get("columns", ()))
        ]
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
                "the query does not return the same values each time, or the column had a type "
                "that is no longer recorded.",
            ]
        if self.values["restore"]:
            lines += ["", "To restore what a cast has changed:", self.values["restore"]]
        snapshots = self.values["snapshots"]
        lines += [
            f"\n{_without_key(result.values)}"
            for result in self.each
            if _lacks_key(result.values) and result.values["model"] not in snapshots
        ]
        lines += [f"\n{name} {_ABOUT_SNAPSHOTS}" for name in snapshots]
        return "\n".join(lines)


@dataclass(frozen=True)
class Audit:
    """Audits one model after the other."""

    reader: RowsReader
    views: ModelViews

    def run(self, models: Names) -> AuditResults:
        """Compare what models produce now with what their tables store. It changes nothing.

        A model that can't be compared is not a failure: its result has the reason.
        """
        nodes = self.reader.nodes(models)
        results = run_on_each(_NAME, nodes, full_name, partial(self._audit, len(nodes)))
        named = [
            replace(result, values={"model": full_name(node), **result.values})
            for result, node in zip(results.each, nodes, strict=True)
        ]
        zone = self.reader.backend.time_zone() if nodes else ""
        lost: dict[str, list[str]] = {"model": [], "snapshot": []}
        for result, node in zip(named, nodes, strict=True):
            kind = node["resource_type"]
            if _is_lossy(result.values) and (kind != "model" or not _lacks_key(result.values)):
                lost[kind].append(full_name(node))
        command = restore_command(lost["model"], self.reader) if lost["model"] else ""
        values = {"time_zone": zone, "restore": command, "snapshots": lost["snapshot"]}
        return AuditResults(_NAME, named, values)

    def _audit(self, number_of_models: int, node: Node) -> OperationResult:
        table = self.reader.selection.node_relation(node)
        shown_as = relation_sql(table) if isinstance(table, SparkRelation) else full_name(node)
        try:
            rows = self.reader.read(node)
            changing = self.views.changing(rows.query)
            if changing:
                raise NotCompared(
                    f"it reads {changing}, views which cast columns to the types from before a "
                    "widening; plan shows how to change them"
                )
            if number_of_models > 1:
                log_progress(f"{_NAME}: reading {shown_as}")
            with rows.dropped_at_end():
                return _result(rows, rows.compare())
        except NotCompared as error:
            return _not_compared(shown_as, str(error))


def _is_lossy(values: Mapping[str, Any]) -> bool:
    return any(column["changed_by_cast"] for column in values.get("columns", ()))


def _lacks_key(values: Mapping[str, Any]) -> bool:
    """Return whether values were lost, and ``restore_values`` would refuse the key."""
    return _is_lossy(values) and bool(values["rows"]["key_not_unique"])


def _without_key(values: Mapping[str, Any]) -> str:
    return (
        f"To restore what a cast has changed in {values['model']}, restore_values needs a unique "
        f"key: {values['rows']['key_not_unique']:,} rows of the table have a key "
        f"({', '.join(values['unique_key'])}) that several rows have. Name columns that are unique "
        "with its argument unique_key, or leave these rows out with its argument where."
    )


def _not_compared(table: str, reason: str) -> OperationResult:
    shown = {"compared": "-", "not compared": reason, "values that differ": "-"}
    return OperationResult(table, shown, {"state": "not_compared", "reason": reason})


def _result(rows: ModelRows, document: Mapping[str, Any]) -> OperationResult:
    counts = {name: int(document[name]) for name in COUNTS}
    columns = rows.differing(document)
    compared = rows.compared
    return OperationResult(
        rows.name,
        shown={
            "compared": f"{counts['compared']:,} rows",
            "not compared": "; ".join(_left_out(counts, compared)) or "-",
            "values that differ": f"{sum(column['rows'] for column in columns):,}",
        },
        values={
            "state": "compared",
            "unique_key": list(rows.key),
            "rows": counts,
            "columns": columns,
            "not_stored": [list(path) for path in compared.not_stored],
            "not_comparable": list(compared.not_comparable),
        },
    )


def _left_out(rows: Mapping[str, int], compared: Compared) -> list[str]:
    texts = {
        "only_produced": "{:,} rows that the table does not have",
        "only_stored": "{:,} rows that the model does not produce now",
        "key_not_unique": "{:,} rows of the table whose key several rows have",
    }
    found = [text.format(rows[name]) for name, text in texts.items() if rows[name]]
    if compared.not_stored:
        names = ", ".join(".".join(path) for path in compared.not_stored)
        found.append(f"columns that the table does not have: {names}")
    if compared.not_comparable:
        found.append(f"types that can't be compared: {', '.join(compared.not_comparable)}")
    return found
