"""Tables and views as the session's JVM has them at hand: no statement is run for them.

To read a table by its name, Spark asks the metastore three times and analyses a query. Beside a
write that changes no schema, this would be most of what the adapter itself takes. To list a
schema's tables, Spark asks the metastore once for each of them.
"""

import contextlib
import json
import re
import uuid
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.partition_columns import with_partition_columns
from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.session import as_active
from dbt.adapters.deltawiden.spark.settings import CATALOG

_SESSION_CATALOG = "spark_catalog"

_TABLES_AT_ONCE = 100
"""How many tables the metastore is asked for at once: some databases under one take no more than a
thousand values in a condition."""
_DESCRIBED = re.compile(
    r"CatalogTable\(\n"
    r"(?P<information>(?:Catalog: .*\n)?Database: (?P<schema>.*)\nTable: (?P<name>.*)\n(?s:.*))\)"
)
"""A table as Spark writes it, which SHOW TABLE EXTENDED shows without its first and last line."""

# The classes used here are no interface of Spark's or Delta's: another version can have others.
# What is not there is a package to py4j, which can't be called.
_not_at_hand = contextlib.suppress(*SPARK_ERRORS, TypeError)


def view_schema(session: SparkSession, name: str) -> StructType | None:
    """Read the schema that Spark keeps of a temporary view since it was created.

    A statement that reads the view gets just those columns and types. To read them as those of a
    table would analyse the view's query anew, which takes long for a long one.

    Args:
        session: a session with a JVM.
        name: the view's name, without quotes.

    Returns:
        The schema; None where there is no such view, or the JVM does not tell.
    """
    with _not_at_hand:
        found = _state(session).catalog().getRawTempView(name)
        if found.isDefined():
            return _read(found.get().tableMeta().schema())
    return None


def delta_schema(session: SparkSession, schema: str, name: str) -> StructType | None:
    """Read the schema of a Delta table's newest version: of the metastore, only where its log is.

    Args:
        session: a session with a JVM.
        schema: the schema that the table is in, without quotes.
        name: its name in it, without quotes.

    Returns:
        The table's schema, with its partition columns marked; None where it is no Delta table in
        Spark's own catalog, or the JVM does not tell.
    """
    with _not_at_hand, as_active(session):
        # Another implementation can have its tables elsewhere than in the metastore.
        if not _is_deltas_catalog_in_use(session):
            return None
        table = _state(session).catalog().externalCatalog().getTable(schema, name)
        if table.provider().contains("delta"):
            metadata = _newest_snapshot(session, table).metadata()
            return with_partition_columns(
                _read(metadata.schema()), _texts(metadata.partitionColumns())
            )
    return None


def descriptions(session: SparkSession, schema: str) -> list[tuple[str, str, str]] | None:
    """Describe each table and view that the metastore has in a schema.

    Args:
        session: a session with a JVM.
        schema: the schema, without quotes.

    Returns:
        Of each, the schema, the name and the information that SHOW TABLE EXTENDED has; None where
        there is no such schema in Spark's own catalog, or the JVM does not tell.
    """
    with _not_at_hand, as_active(session):
        if not _is_deltas_catalog_in_use(session):
            return None
        catalog = _state(session).catalog()
        names = catalog.listTables(schema, "*", False)  # not the temporary views
        starts = range(0, names.size(), _TABLES_AT_ONCE)
        slices = (names.slice(start, start + _TABLES_AT_ONCE) for start in starts)
        tables = (catalog.getTablesByName(each) for each in slices)
        return [_row(text) for each in tables for text in _texts(each)]
    return None


def _texts(sequence: Any) -> list[str]:
    # All in one text: py4j takes longer to hand over each than the JVM to write them.
    end = uuid.uuid4().hex
    return str(sequence.mkString("", end, end)).split(end)[:-1]


def _row(text: str) -> tuple[str, str, str]:
    described = _DESCRIBED.fullmatch(text)
    if described is None:  # written by another version: not at hand either
        raise TypeError(f"This describes no table: {text}")
    return described["schema"], described["name"], described["information"] + "\n"


def _is_deltas_catalog_in_use(session: SparkSession) -> bool:
    return (
        session.conf.get(f"spark.sql.catalog.{_SESSION_CATALOG}", None) == CATALOG
        and session.catalog.currentCatalog() == _SESSION_CATALOG
    )


def _newest_snapshot(session: SparkSession, table: Any) -> Any:
    # By its whole name: py4j asks the JVM about each part of one that is written with dots.
    log = getattr(session._jvm, "org.apache.spark.sql.delta.DeltaLog")
    no_options = table.properties().empty()
    return log.forTableWithSnapshot(session._jsparkSession, table, no_options)._2()


def _state(session: SparkSession) -> Any:
    return session._jsparkSession.sessionState()


def _read(schema: Any) -> StructType:
    return StructType.fromJson(json.loads(schema.json(), object_hook=_without_deltas_metadata))


def _without_deltas_metadata(field: dict[str, Any]) -> dict[str, Any]:
    """Leave out what only Delta reads of a field, as Delta itself does where a table is read."""
    metadata = field.get("metadata")
    if isinstance(metadata, dict):
        shown = {key: value for key, value in metadata.items() if not key.startswith("delta.")}
        field["metadata"] = shown
    return field
