"""Make the catalog entries of `dbt docs generate`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import agate
from dbt.adapters.base.impl import catch_as_completed
from dbt.adapters.base.relation import BaseRelation, SchemaSearchMap
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.clients.agate_helper import DEFAULT_TYPE_TESTER
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.utils import executor

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.change_history import read_dated_changes
from dbt.adapters.deltawiden.delta.delta_table import DeltaTable
from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.log import logger

_TYPE_CHANGES = "When the types were changed, and by which model or operation"
# Each commit is a file that Delta reads. An older change is shown without its time.
_COMMITS = 1000

Statistics = dict[str, str | bool]
_Schema = tuple[str | None, str]
"""The catalog of a schema, if it is in the name, and the schema."""


def catalog_rows(backend: SqlBackend, relation: SparkRelation) -> Iterator[dict[str, Any]]:
    """Yield the catalog rows of a relation, with the comments on the relation and its columns.

    Yields:
        A row of dbt's catalog for each column. If the relation can't be read, there are none.
    """
    information = relation.information or ""
    owner = re.search(SparkAdapter.INFORMATION_OWNER_REGEX, information)
    # The metastore does not count the rows of a Delta table, and always reports 0.
    counted = not relation.is_delta and re.search(
        SparkAdapter.INFORMATION_STATISTICS_REGEX, information
    )
    try:
        # For a thousand tables, the statements that read this would take minutes.
        logged = backend.delta_table(relation)
        schema = logged.schema if logged else backend.schema(relation)
        comment = logged.comment if logged else backend.comment(relation)
    except DbtRuntimeError as error:
        logger.warning(f"The catalog has no columns of {relation_sql(relation)}: {error.msg}")
        return
    shared = {
        "table_database": relation.database,
        "table_schema": relation.schema,
        "table_name": relation.identifier,
        "table_type": relation.type,
        "table_owner": owner.group(1) if owner else None,
        "table_comment": comment,
        **SparkColumn.convert_table_stats(counted.group(1) if counted else None),
        **statistics(backend, relation, logged),
    }
    for index, field in enumerate(schema.fields, start=1):
        yield {
            **shared,
            "column_name": field.name,
            "column_index": index,
            "column_type": field.dataType.simpleString(),
            "column_comment": field.metadata.get("comment"),
        }


def catalog_table(rows: Sequence[Mapping[str, Any]]) -> CatalogTable:
    """Return the catalog's entry of a relation from its rows, at least one."""
    first = rows[0]
    return CatalogTable(
        metadata=TableMetadata(
            type=str(first["table_type"]),
            database=first.get("table_database"),
            schema=first["table_schema"],
            name=first["table_name"],
            comment=first.get("table_comment"),
            owner=first.get("table_owner"),
        ),
        columns={
            row["column_name"]: ColumnMetadata(
                type=row["column_type"],
                index=row["column_index"],
                name=row["column_name"],
                comment=row.get("column_comment"),
            )
            for row in rows
        },
        stats=_stats_items(first),
    )


def _stats_items(row: Mapping[str, Any]) -> dict[str, StatsItem]:
    names = {key.split(":")[1] for key in row if key.startswith("stats:")}
    parts = ("label", "value", "include", "description")
    return {
        name: StatsItem(id=name, **{part: row[f"stats:{name}:{part}"] for part in parts})
        for name in sorted(names)
    }


def statistics(
    backend: SqlBackend, table: SparkRelation, logged: DeltaTable | None = None
) -> Statistics:
    """Return the state of a table's type widening as statistics: cells of dbt's catalog rows.

    Args:
        logged: what is already known of the table.

    Empty if the relation is not a Delta table. If it can't be read, a warning is logged and the
    result is empty, so that the other relations are still listed.

    Source:
        dbt-core, ``dbt/task/docs/generate.py`` (``format_stats``)
    """
    if not table.is_delta:
        return {}
    try:
        return _statistics(backend, table, logged)
    except DbtRuntimeError as error:
        logger.warning(f"The catalog has no statistics for {relation_sql(table)}: {error.msg}")
        return {}


def _statistics(backend: SqlBackend, table: SparkRelation, logged: DeltaTable | None) -> Statistics:
    snapshot = backend.snapshot(table)
    if logged:
        snapshot.all_properties = logged.properties
    has_feature = bool(snapshot.widening_features)
    on = snapshot.has(TYPE_WIDENING_PROPERTY)
    state = "on" if on else "off, with its table feature" if has_feature else "off"
    found = _statistic(
        "type_widening",
        "Type widening",
        state,
        f"The table property {TYPE_WIDENING_PROPERTY} and its table feature",
    )
    # Only the log contains the changes. It is read only if the table can have some.
    changes = read_dated_changes(backend, snapshot, _COMMITS) if has_feature else ()
    if changes:
        text = "; ".join(change.text for change in changes)
        found |= _statistic("type_changes", "Type changes", text, _TYPE_CHANGES)
    return found


def _statistic(name: str, label: str, value: str, description: str) -> Statistics:
    key = f"stats:{name}"
    return {
        f"{key}:label": label,
        f"{key}:value": value,
        f"{key}:description": description,
        f"{key}:include": True,
    }


def columns_for_catalog(
    backend: SqlBackend,
    relation: BaseRelation,
    described: Callable[[BaseRelation], Iterable[dict[str, Any]]],
) -> Iterable[dict[str, Any]]:
    """Return the catalog rows of a relation, on any connection.

    Without a session, they are those that dbt-spark makes of DESCRIBE.
    """
    if not isinstance(relation, SparkRelation):
        return described(relation)
    if backend.has_session:
        return catalog_rows(backend, relation)
    rows = list(described(relation))
    found: dict[str, Any] = {"table_database": relation.database, **statistics(backend, relation)}
    return [{**row, **found} for row in rows]


def catalog_of_relation(adapter: SparkAdapter, relation: BaseRelation) -> CatalogTable | None:
    """Return the catalog entry of a relation; None if it can't be read."""
    # dbt's cache knows a relation that this process has made by its name only.
    listed = adapter.list_relations_without_caching(relation.without_identifier())
    same = (other for other in listed if other.identifier == relation.identifier)
    rows = list(adapter._get_columns_for_catalog(next(same, relation)))
    return catalog_table(rows) if rows else None


def catalog_of_relations(
    adapter: SparkAdapter, relations: Iterable[BaseRelation]
) -> tuple[agate.Table, list[Exception]]:
    """Return the catalog of some relations. The other relations of a schema are not read.

    Returns:
        A row for each column, and the errors of the schemas that could not be read.
    """
    names: dict[_Schema, set[str]] = {}
    for relation in relations:
        schema = relation.database, relation.schema or ""
        names.setdefault(schema, set()).add((relation.identifier or "").lower())
    return _catalog_of_all(adapter, names)


def catalog_of_schemas(
    adapter: SparkAdapter, schemas: SchemaSearchMap
) -> tuple[agate.Table, list[Exception]]:
    """Return the catalog of all relations of some schemas, as ``catalog_of_relations``."""
    found = ((catalog.database, schema or "") for catalog, schema in schemas.search())
    return _catalog_of_all(adapter, dict.fromkeys(found))


def _catalog_of_all(
    adapter: SparkAdapter, names: Mapping[_Schema, set[str] | None]
) -> tuple[agate.Table, list[Exception]]:
    with executor(adapter.config) as threads:
        tables: list[Future[agate.Table]] = [
            threads.submit_connected(
                adapter, schema[1], partial(_catalog_of, adapter, schema, found)
            )
            for schema, found in names.items()
        ]
        merged: tuple[agate.Table, list[Exception]] = catch_as_completed(tables)
    return merged


def _catalog_of(adapter: SparkAdapter, schema: _Schema, names: set[str] | None) -> agate.Table:
    rows: list[dict[str, Any]] = []
    for relation in adapter.list_relations(*schema):
        if names is None or (relation.identifier or "").lower() in names:
            rows.extend(adapter._get_columns_for_catalog(relation))
    return agate.Table.from_object(rows, column_types=DEFAULT_TYPE_TESTER)
