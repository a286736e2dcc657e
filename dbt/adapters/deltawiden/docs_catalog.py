"""What `dbt docs generate` tells of a relation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, StatsItem, TableMetadata
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.protocol import ENABLED
from dbt.adapters.deltawiden.delta.relations import relation_sql

logger = AdapterLogger("DeltaWiden")

Statistics = dict[str, str | bool]


def catalog_rows(backend: SqlBackend, relation: SparkRelation) -> Iterator[dict[str, Any]]:
    """Tell of a relation and each of its columns, with the comments of both.

    Args:
        backend: reads the relation; it needs a session.
        relation: a table or view.

    Returns:
        The rows of dbt's catalog, one a column; none where the relation can't be read.
    """
    information = relation.information or ""
    owner = re.search(SparkAdapter.INFORMATION_OWNER_REGEX, information)
    # The metastore does not count the rows of a Delta table, and says 0.
    counted = not relation.is_delta and re.search(
        SparkAdapter.INFORMATION_STATISTICS_REGEX, information
    )
    try:
        schema, comment = backend.schema(relation), backend.comment(relation)
    except DbtRuntimeError as error:
        logger.warning(f"The catalog has nothing of {relation_sql(relation)}: {error.msg}")
        return
    shared = {
        "table_database": None,
        "table_schema": relation.schema,
        "table_name": relation.identifier,
        "table_type": relation.type,
        "table_owner": owner.group(1) if owner else None,
        "table_comment": comment,
        **SparkColumn.convert_table_stats(counted.group(1) if counted else None),
        **statistics(backend, relation),
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
    """Make one table of the rows of dbt's catalog.

    Args:
        rows: those of one relation; at least one.

    Returns:
        The table.
    """
    first = rows[0]
    return CatalogTable(
        metadata=TableMetadata(
            type=str(first["table_type"]),
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
        name: StatsItem(id=name, **{each: row[f"stats:{name}:{each}"] for each in parts})
        for name in sorted(names)
    }


def statistics(backend: SqlBackend, table: SparkRelation) -> Statistics:
    """Tell of a table's type widening, as statistics of dbt's catalog.

    Args:
        backend: reads the table.
        table: a relation.

    Returns:
        The cells of each of its columns' rows in the catalog; none where it is no Delta table. A
        table that can't be read has none either, with a warning: the others have to have theirs.

    Source:
        dbt-core, ``dbt/task/docs/generate.py`` (``format_stats``)
    """
    if not table.is_delta:
        return {}
    try:
        return _statistics(backend, table)
    except DbtRuntimeError as error:
        logger.warning(f"The catalog has no statistics of {relation_sql(table)}: {error.msg}")
        return {}


def _statistics(backend: SqlBackend, table: SparkRelation) -> Statistics:
    snapshot = backend.snapshot(table)
    has_feature = bool(snapshot.widening_features)
    on = snapshot.has(ENABLED)
    said = "on" if on else "off, with its table feature" if has_feature else "off"
    found = _statistic(
        "type_widening",
        "Type widening",
        said,
        f"The table property {ENABLED} and its table feature",
    )
    # Only the log has the changes, and reading it is worth it only where there can be some.
    changes = snapshot.changes if has_feature else ()
    if changes:
        text = "; ".join(each.text for each in changes)
        found |= _statistic("type_changes", "Type changes", text, "Recorded in the table's schema")
    return found


def _statistic(name: str, label: str, value: str, description: str) -> Statistics:
    key = f"stats:{name}"
    return {
        f"{key}:label": label,
        f"{key}:value": value,
        f"{key}:description": description,
        f"{key}:include": True,
    }
