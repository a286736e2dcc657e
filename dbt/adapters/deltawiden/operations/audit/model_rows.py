"""The rows of a model's full query and those of its table, and how they are compared."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import uuid4

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.history import read_history
from dbt.adapters.deltawiden.delta.relations import provider, relation_sql
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.audit.candidates import Candidates, bounds, ranges_sql
from dbt.adapters.deltawiden.operations.audit.compared import Column, Compared, compared_columns
from dbt.adapters.deltawiden.operations.audit.query import (
    EVERYTHING,
    Repair,
    Sides,
    audit_sql,
)
from dbt.adapters.deltawiden.operations.audit.value_comparison import EarlierTypes
from dbt.adapters.deltawiden.operations.selection import Names, Node, Selection
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import as_list, folded, path_text, read_name
from dbt.adapters.deltawiden.sql.queries import GAP
from dbt.adapters.deltawiden.sql.side_by_side import AmbiguousName
from dbt.adapters.deltawiden.sql.types import limited, type_text
from dbt.adapters.deltawiden.widening.matched_rows import NotCompared, key_columns
from dbt.adapters.deltawiden.writes.model_query import compile_full_query


class KeptQueries:
    """Results that Spark keeps, in memory or on the disks of its executors.

    If Spark has lost a part, or a table that the query reads has another schema now, it runs the
    query again.

    Source:
        https://spark.apache.org/docs/latest/sql-ref-syntax-aux-cache-cache-table.html
    """

    def __init__(self, backend: SqlBackend) -> None:
        self._backend = backend
        self._names: dict[str, str] = {}

    def keep(self, query: str) -> str:
        """Run a query, if its result is not kept yet. Return the name of its result."""
        if query not in self._names:
            name = f"dbt_deltawiden_{uuid4().hex}"
            # A query that is cancelled has made a view, too.
            self._names[query] = name
            self._backend.execute(f"cache table {name} as {query}")
        return self._names[query]

    def drop(self) -> None:
        """Drop all results."""
        while self._names:
            _, name = self._names.popitem()
            self._backend.execute(f"drop view if exists {name}")


_SETS = re.compile(
    rf"\b(?:re)?set{GAP}+(time{GAP}+zone\b|`?spark\.sql\.(?:session\.timeZone|timestampType|ansi\."
    r"|caseSensitive|decimalOperations|mapKeyDedupPolicy"
    rf"|legacy\.(?!create|allowNon|\S*InWrite))[\w.]*)|^{GAP}*(reset){GAP}*;?{GAP}*$",
    re.IGNORECASE | re.DOTALL,
)
"""Statements after which a query can return other values."""


def settings_in(statements: Iterable[str]) -> str:
    """Return what statements of hooks set so that a model's values can differ, for people."""
    found = (match[1] or match[2] for text in statements for match in _SETS.finditer(text))
    return ", ".join(dict.fromkeys(name.strip("`") for name in found))


QueryOfNode = Callable[[Node, BaseRelation], str]
"""Returns a model's query for a table as in a full refresh. Empty if it is in Python."""

_NO_KEY = (
    "the model has no unique_key, so no stored row can be matched with a produced one; name "
    "columns that are unique with the argument unique_key"
)


def full_query(context: Mapping[str, Any], node: Node, table: BaseRelation) -> str:
    """Compile a model's query as in a full refresh: ``compile_full_query``."""
    return compile_full_query(context, str(node["unique_id"]))


@dataclass(frozen=True)
class ModelRows:
    """The rows of a model and of its table.

    Attributes:
        query: the model's full query.
        key: the names of the columns by which the rows of both are matched.
        produced: the schema of the query.
        only: the columns that are compared, in lower case. Empty for all.
    """

    backend: SqlBackend
    node: Node
    table: SparkRelation
    query: str
    key: Sequence[str]
    produced: StructType
    only: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The table's name, quoted for a statement."""
        return relation_sql(self.table)

    @cached_property
    def schema(self) -> StructType:
        """The table's schema before anything was changed."""
        return self.backend.table_schema(self.table)

    @cached_property
    def snapshot(self) -> TableSnapshot:
        """The table before anything was changed."""
        return self.backend.snapshot(self.table, self.schema)

    @cached_property
    def computed(self) -> frozenset[str]:
        """The generated and identity columns, in lower case."""
        return self.snapshot.generated_or_identity_columns

    @cached_property
    def compared(self) -> Compared:
        """What is compared, in the table as it was before anything was changed."""
        return self.compared_with(self.schema)

    def compared_with(self, schema: StructType) -> Compared:
        """Return what is compared in the table with a schema that it has later."""
        try:
            produced, stored = (limited(s, self.only) for s in (self.produced, schema))
            return compared_columns(produced, with_char_types(stored))
        except AmbiguousName as error:
            raise DbtRuntimeError(str(error)) from error

    def earlier(self, changes: Sequence[TypeChange] = ()) -> EarlierTypes:
        """Return the types that leaves of the table had before it was read, and before changes."""
        found: dict[tuple[str, ...], list[Any]] = {}
        for change in dict.fromkeys((*self.snapshot.changes_in_log, *changes)):
            found.setdefault(folded(change.path), []).append(change.from_type)
        return found

    @contextmanager
    def dropped_at_end(self) -> Iterator[None]:
        """Keep no results of queries after the block."""
        try:
            yield
        finally:
            self._kept.drop()

    def compare(self, repair: Repair = EVERYTHING) -> Mapping[str, Any]:
        """Read both sides, if a key finds their rows, and return the document of ``audit_sql``."""
        sides = self._sides(repair)
        query = audit_sql(sides, self._keys(sides), self.earlier(), repair)
        ((text,),) = self.backend.fetch_rows(query)
        found: dict[str, Any] = json.loads(text)
        return found

    def produced_again(self, repair: Repair) -> tuple[str, list[str]]:
        """Return what a MERGE needs: the rows that differ, as FROM, and ``Sides.conditions``."""
        sides = self._sides(repair)
        return f"({sides.produced_sql(self._keys(sides))})", sides.conditions

    def _keys(self, sides: Sides) -> str:
        return self._kept.keep(sides.keys_sql())

    def _sides(self, repair: Repair) -> Sides:
        keys = key_columns(self.key, self.produced, with_char_types(self.schema))
        # A column can have the name of the metadata.
        has_files = bool(self.table.is_delta) and "_metadata" not in map(
            str.lower, self.schema.names
        )
        columns, table = self.compared.columns, self._table_now
        sides = Sides(self.query, table, keys, columns, repair.where, has_files)
        return replace(sides, candidates=self._candidates(sides)) if repair.only_casts else sides

    def _candidates(self, sides: Sides) -> Candidates:
        name = self._kept.keep(sides.candidates_sql(self.earlier()))
        (found,) = self.backend.fetch_rows(ranges_sql(name, sides.keys))
        return Candidates(name, bounds(sides.keys, found))

    @cached_property
    def _table_now(self) -> str:
        """The version that the table has now, so that type changes do not change what is kept."""
        if not self.table.is_delta:
            return self.name
        newest = next(read_history(self.name, self.backend.fetch_rows, 1), None)
        return f"{self.name} version as of {newest.version}" if newest else self.name

    @cached_property
    def _kept(self) -> KeptQueries:
        return KeptQueries(self.backend)

    def differing(
        self, document: Mapping[str, Any], only_casts: bool = False
    ) -> list[dict[str, Any]]:
        """Return the columns with values that differ, with examples, for a JSON document."""
        pairs = zip(self.compared.columns, document["columns"], strict=True)
        columns = [_column(column, counts, self.key, only_casts) for column, counts in pairs]
        return [column for column in columns if column["rows"]]

    def differing_names(self, document: Mapping[str, Any], only_casts: bool = False) -> list[str]:
        """Return the names of the columns that ``differing`` returns, each once."""
        found = self.differing(document, only_casts)
        return list(dict.fromkeys(column["path"][0] for column in found))


@dataclass(frozen=True)
class RowsReader:
    """Finds the rows of models by a person's key or, if that is empty, by the model's.

    Attributes:
        hooks: returns what hooks run before the node with a unique id: ``hook_statements``.
    """

    backend: SqlBackend
    selection: Selection
    full_query: QueryOfNode
    hooks: Callable[[str], Iterable[str]]
    unique_key: Sequence[str] = ()
    is_compiled: bool = False
    only: Sequence[str] = ()

    def nodes(self, models: Names) -> list[Node]:
        """Return the nodes of models; by default of all incremental models.

        Raises:
            CompilationError: there is no such model, or a key was given for several models.
        """
        nodes = self.selection.nodes_named(models, materialized="incremental")
        if self.unique_key and len(nodes) != 1:
            raise self.selection.error(
                "`unique_key` is the key of one model: name it, as `models: [name]`"
            )
        return nodes

    def read(self, node: Node) -> ModelRows:
        """Return the rows of a model and of its table. None are read yet.

        Raises:
            NotCompared: there is no table, no key or no query.
        """
        if node["resource_type"] == "seed":
            raise NotCompared("it is a seed, whose rows no model produces")
        table = self.selection.node_relation(node)
        if not isinstance(table, SparkRelation):
            raise NotCompared("it has no table yet")
        if table.is_view:
            raise NotCompared(f"it is a {provider(table)}, which stores no values")
        key = list(self.unique_key) or as_list(node["config"].get("unique_key"))
        if not key:
            raise NotCompared(_NO_KEY)
        settings = settings_in(self._before(node))
        if settings:
            raise NotCompared(
                f"its query can return other values here than in a run: a hook sets {settings}, "
                "and an operation runs no hooks. Set it in the profile"
            )
        query = self.full_query(node, table)
        if not query:
            raise NotCompared("it is in Python, so its full query is not known")
        produced = self.backend.query_schema(query)
        return ModelRows(self.backend, node, table, query, key, produced, self.only)

    def _before(self, node: Node) -> Iterator[str]:
        """Return what hooks run before a node: its own, and those of the project."""
        yield from self.hooks(str(node["unique_id"]))
        for unique_id, each in self.selection.graph["nodes"].items():
            if each["resource_type"] == "operation" and "on-run-start" in each["tags"]:
                yield from self.hooks(str(unique_id))


def folded_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that names have, in lower case."""
    return [read_name(name)[0].lower() for name in names]


def _column(
    column: Column, counts: Mapping[str, Any], key: Sequence[str], only_casts: bool
) -> dict[str, Any]:
    places = ("first", "last") if only_casts else ("first", "last", "first_other")
    examples = [counts.get(place) for place in places]
    distinct = {json.dumps(found): found for found in examples if found}
    return {
        "path": list(column.path),
        "produced_type": type_text(column.produced),
        "stored_type": type_text(column.stored),
        "rows": int(counts["by_cast"]) + (0 if only_casts else int(counts["other"])),
        "changed_by_cast": int(counts["by_cast"]),
        "examples": [_example(found, key) for found in distinct.values()],
    }


def _example(found: Mapping[str, Any], key: Sequence[str]) -> dict[str, Any]:
    values = key_values(found, key)
    return {"key": values, "produced": found.get("produced"), "stored": found.get("stored")}


def key_values(found: Mapping[str, Any], key: Sequence[str]) -> dict[str, str | None]:
    """Return the values of a key as texts, from a document of ``audit_sql``."""
    return {name: found.get(f"tk{number}") for number, name in enumerate(key)}


def column_rows(table: str, columns: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    """Yield the row of each column that ``differing`` returns, for a table for people."""
    for column in columns:
        example = next(iter(column["examples"]))
        yield {
            "table": table,
            "column": path_text(tuple(column["path"])),
            "produced as": column["produced_type"],
            "stored as": column["stored_type"],
            "rows": f"{column['rows']:,}",
            "by a cast": f"{column['changed_by_cast']:,}",
            "for example": key_text(example["key"]),
            "produced": _shown(example["produced"]),
            "stored": _shown(example["stored"]),
        }


def key_text(values: Mapping[str, str | None]) -> str:
    """Render the values of a key for people."""
    return ", ".join(f"{name} {_shown(value)}" for name, value in values.items())


def _shown(value: str | None) -> str:
    if value is None:
        return "null"
    # Otherwise nobody sees the spaces of a char.
    return f"'{value}'" if value != value.strip() or not value else value
