"""Schemas as the session's JVM has them at hand: nothing is analysed for them.

To read a table by its name, Spark asks the metastore three times and analyses a query. Beside a
write that changes no schema, this would be most of what the adapter itself takes.
"""

import contextlib
import json
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.launch import SPARK_ERRORS
from dbt.adapters.deltawiden.session import as_active

_SPARKS_OWN = ("spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")

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
        The table's schema; None where it is no Delta table in Spark's own catalog, or the JVM does
        not tell.
    """
    with _not_at_hand, as_active(session):
        state = _state(session)
        catalog = state.catalogManager().currentCatalog()
        # Another implementation can have its tables elsewhere than in the metastore.
        if (catalog.name(), catalog.getClass().getName()) != _SPARKS_OWN:
            return None
        table = state.catalog().externalCatalog().getTable(schema, name)
        provider = table.provider()
        if provider.isDefined() and provider.get().lower() == "delta":
            return _read(_newest_snapshot(session, table).schema())
    return None


def _newest_snapshot(session: SparkSession, table: Any) -> Any:
    jvm: Any = session._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog
    no_options = getattr(getattr(jvm.scala.collection.immutable, "Map$"), "MODULE$").empty()
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
