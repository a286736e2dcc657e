"""``audit_lossy_writes``: find the stored values that are not the ones that the model produces."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.config.validation import names_listed
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import provider, relation_sql
from dbt.adapters.deltawiden.operations.audit.query import (
    Column,
    Compared,
    KeyNotComparable,
    audit_sql,
    compared_columns,
    key_columns,
)
from dbt.adapters.deltawiden.operations.audit.value_comparison import EarlierTypes
from dbt.adapters.deltawiden.operations.progress import log_progress
from dbt.adapters.deltawiden.operations.result import (
    OperationResult,
    OperationResults,
    run_on_each,
    text_table,
)
from dbt.adapters.deltawiden.operations.selection import Names, Node, Selection, full_name
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, path_text
from dbt.adapters.deltawiden.sql.side_by_side import AmbiguousName
from dbt.adapters.deltawiden.sql.types import type_text

_NAME = "audit_lossy_writes"

FullQuery = Callable[[Node, BaseRelation], str]
"""Renders a model's query for a table as in a full refresh; empty if it can't."""


class AuditResults(OperationResults):
    """The results of the audit of all models."""

    @property
    def text(self) -> str:
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


@dataclass(frozen=True)
class Audit:
    """Audits one model after the other, by a person's key or, if that is empty, by the model's."""

    backend: SqlBackend
    selection: Selection
    full_query: FullQuery
    unique_key: Sequence[str] = ()

    def run(self, models: Names) -> AuditResults:
        """Compare what models produce now with what their tables store. It changes nothing.

        A model that can't be compared is no failure: its result has the reason.

        Raises:
            CompilationError: there is no such model, or a key was given for several models.
        """
        nodes = self.selection.nodes_named(models, materialized="incremental")
        if self.unique_key and len(nodes) != 1:
            raise self.selection.error(
                "`unique_key` is the key of one model: name it, as `models: [name]`"
            )
        results = run_on_each(_NAME, nodes, full_name, partial(self._audit, len(nodes)))
        named = [
            replace(result, values={"model": full_name(node), **result.values})
            for result, node in zip(results.each, nodes, strict=True)
        ]
        zone = self.backend.time_zone() if nodes else ""
        return AuditResults(_NAME, named, {"time_zone": zone})

    def _audit(self, number_of_models: int, node: Node) -> OperationResult:
        name = full_name(node)
        table = self.selection.get_relation(node.get("database"), node["schema"], node["alias"])
        if not isinstance(table, SparkRelation):
            return _not_compared(name, "it has no table yet")
        shown_as = relation_sql(table)
        if table.is_view:
            return _not_compared(shown_as, f"it is a {provider(table)}, which stores no values")
        names = list(self.unique_key) or names_listed(node["config"].get("unique_key"))
        if not names:
            return _not_compared(
                shown_as,
                "the model has no unique_key, so no stored row can be matched with a produced one; "
                "name columns that are unique with the argument unique_key",
            )
        query = self.full_query(node, table)
        if not query:
            return _not_compared(shown_as, _NO_QUERY)
        if number_of_models > 1:
            log_progress(f"{_NAME}: reading {shown_as}")
        try:
            return self._compare(table, query, names)
        except KeyNotComparable as error:
            return _not_compared(shown_as, str(error))
        except AmbiguousName as error:
            raise DbtRuntimeError(str(error)) from error

    def _compare(self, table: SparkRelation, query: str, names: Sequence[str]) -> OperationResult:
        produced = self.backend.query_schema(query)
        stored = with_char_types(self.backend.table_schema(table))
        compared = compared_columns(produced, stored)
        keys = key_columns(names, produced, stored)
        sql = audit_sql(query, relation_sql(table), keys, compared, self._earlier(table))
        ((text,),) = self.backend.fetch_rows(sql)
        return _result(relation_sql(table), names, compared, json.loads(text))

    def _earlier(self, table: SparkRelation) -> EarlierTypes:
        found: dict[Path, list[DataType]] = {}
        for change in self.backend.snapshot(table).changes if table.is_delta else ():
            found.setdefault(folded(change.path), []).append(change.from_type)
        return found


_NO_QUERY = (
    "its query is not known: it is in Python, or it uses macros or ephemeral models, which an "
    "audit does not run. For SQL, run dbt compile --full-refresh, then the audit with the argument "
    "compiled: true"
)


def _not_compared(table: str, reason: str) -> OperationResult:
    shown = {"compared": "-", "not compared": reason, "values that differ": "-"}
    return OperationResult(table, shown, {"state": "not_compared", "reason": reason})


def _result(
    table: str, names: Sequence[str], compared: Compared, document: Mapping[str, Any]
) -> OperationResult:
    rows = {name: int(document[name]) for name in _COUNTS}
    pairs = zip(compared.columns, document["columns"], strict=True)
    columns = [_column(column, counts, names) for column, counts in pairs]
    differing = [column for column in columns if column["rows"]]
    return OperationResult(
        table,
        shown={
            "compared": f"{rows['compared']:,} rows",
            "not compared": "; ".join(_left_out(rows, compared)) or "-",
            "values that differ": f"{sum(column['rows'] for column in differing):,}",
        },
        values={
            "state": "compared",
            "unique_key": list(names),
            "rows": rows,
            "columns": differing,
            "not_stored": [list(path) for path in compared.not_stored],
            "not_comparable": list(compared.not_comparable),
        },
    )


_COUNTS = ("produced", "stored", "compared", "only_produced", "only_stored", "key_not_unique")


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


def _column(column: Column, counts: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    examples = [counts.get(place) for place in ("first", "last", "first_other")]
    distinct = {json.dumps(found): found for found in examples if found}
    return {
        "path": list(column.path),
        "produced_type": type_text(column.produced),
        "stored_type": type_text(column.stored),
        "rows": int(counts["by_cast"]) + int(counts["other"]),
        "changed_by_cast": int(counts["by_cast"]),
        "examples": [_example(found, names) for found in distinct.values()],
    }


def _example(found: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    key = {name: found.get(f"tk{number}") for number, name in enumerate(names)}
    return {"key": key, "produced": found.get("produced"), "stored": found.get("stored")}


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
