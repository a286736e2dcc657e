"""Read schemas and lists of tables from the session's JVM, without a statement.

To read a table by its name, Spark queries the metastore three times and analyses a query. For a
write that changes no schema, this would be most of the adapter's own time. To list the tables of a
schema, Spark queries the metastore once for each table.
"""

import contextlib
import json
import re
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.delta_table import DeltaTable
from dbt.adapters.deltawiden.delta.partition_columns import with_partition_columns
from dbt.adapters.deltawiden.delta.protocol import FEATURE_PREFIX, SUPPORTED
from dbt.adapters.deltawiden.spark import scala
from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.session_connection import as_active
from dbt.adapters.deltawiden.spark.settings import CATALOG, CATALOG_SETTING
from dbt.adapters.deltawiden.sql.identifiers import SESSION_CATALOG

_TABLES_AT_ONCE = 100
"""The number of tables in one request to the metastore. Some metastore databases accept at most a
thousand values in a condition."""
_DESCRIBED = re.compile(
    r"CatalogTable\(\n"
    r"(?P<information>(?:Catalog: .*\n)?Database: (?P<schema>.*)\nTable: (?P<name>.*)\n(?s:.*))\)"
)
"""Spark's text for a table. SHOW TABLE EXTENDED shows it without its first and last line."""

# Another version of Spark or Delta can have other classes. py4j treats a class that does not exist
# as a package, which can't be called.
_if_known = contextlib.suppress(*SPARK_ERRORS, TypeError)


def temporary_view_schema(session: SparkSession, name: str) -> StructType | None:
    """Read the schema that Spark stored when a temporary view was created.

    A statement that reads the view gets exactly these columns and types. To read them in the same
    way as a table's would analyse the view's query again, which is slow for a long query. None if
    there is no such view, or this version of Spark has other classes.
    """
    with _if_known:
        schema = scala.temporary_view_schema(session, name)
        if schema is not None:
            return _read(schema)
    return None


def delta_schema(session: SparkSession, schema: str, name: str) -> StructType | None:
    """Read the schema of the newest version of a Delta table, from its log. No name has quotes.

    None if it is not a Delta table in Spark's own catalog, or this version of Spark or Delta has
    other classes. The partition columns are marked.
    """
    with _if_known, as_active(session):
        snapshot = _newest_snapshot(session, schema, name)
        if snapshot is not None:
            return _marked_schema(snapshot.metadata())
    return None


def delta_table(session: SparkSession, schema: str, name: str) -> DeltaTable | None:
    """Read the newest version of a Delta table, as ``delta_schema``."""
    with _if_known, as_active(session):
        snapshot = _newest_snapshot(session, schema, name)
        if snapshot is not None:
            metadata, set_by = snapshot.metadata(), snapshot.metadata().configuration()
            names, values = (scala.texts(part.toSeq()) for part in (set_by.keys(), set_by.values()))
            features = scala.texts(snapshot.protocol().readerAndWriterFeatureNames())
            supported = dict.fromkeys((f"{FEATURE_PREFIX}{each}" for each in features), SUPPORTED)
            properties = {**dict(zip(names, values, strict=True)), **supported}
            return DeltaTable(_marked_schema(metadata), metadata.description(), properties)
    return None


def _newest_snapshot(session: SparkSession, schema: str, name: str) -> Any:
    # Another implementation of the catalog can keep its tables outside the metastore.
    if not _is_deltas_catalog_in_use(session):
        return None
    table = scala.catalog_table(session, schema, name)
    if not table.provider().contains("delta"):
        return None
    snapshot = scala.newest_snapshot(session, table)
    # Without a log, it is an empty version: a statement says what is wrong.
    return snapshot if snapshot.version() >= 0 else None


def _marked_schema(metadata: Any) -> StructType:
    return with_partition_columns(
        _read(metadata.schema()), scala.texts(metadata.partitionColumns())
    )


def describe_tables(session: SparkSession, schema: str) -> list[tuple[str, str, str]] | None:
    """Describe the tables and views of a schema in the metastore.

    Returns:
        For each, the schema, the name and the information of SHOW TABLE EXTENDED. None if there is
        no such schema in Spark's own catalog, or this version of Spark has other classes.
    """
    with _if_known, as_active(session):
        if not _is_deltas_catalog_in_use(session):
            return None
        tables = scala.catalog_tables(session, schema, _TABLES_AT_ONCE)
        return [_row(text) for batch in tables for text in scala.texts(batch)]
    return None


def _row(text: str) -> tuple[str, str, str]:
    described = _DESCRIBED.fullmatch(text)
    if described is None:  # Another version of Spark writes other text.
        raise TypeError(f"This describes no table: {text}")
    return described["schema"], described["name"], described["information"] + "\n"


def _is_deltas_catalog_in_use(session: SparkSession) -> bool:
    return (
        session.conf.get(CATALOG_SETTING, None) == CATALOG
        and session.catalog.currentCatalog() == SESSION_CATALOG
    )


def _read(schema: Any) -> StructType:
    return StructType.fromJson(json.loads(schema.json(), object_hook=_without_deltas_metadata))


def _without_deltas_metadata(field: dict[str, Any]) -> dict[str, Any]:
    """Remove the metadata that only Delta reads, as Delta does when a table is read."""
    metadata = field.get("metadata")
    if isinstance(metadata, dict):
        shown = {key: value for key, value in metadata.items() if not key.startswith("delta.")}
        field["metadata"] = shown
    return field
