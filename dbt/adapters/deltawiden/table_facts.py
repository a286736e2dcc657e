"""What Delta says of a table and what the server says of itself, as values."""

import json
from collections.abc import Mapping
from typing import Any

from dbt.adapters.deltawiden.widening.plan import TableFacts
from dbt.adapters.deltawiden.widening.rules import DELTA_3_2, DELTA_4_0, Engine, Version


def facts_from_detail(name: str, detail: Mapping[str, Any], engine: Engine) -> TableFacts:
    """Read the answer of ``DESCRIBE DETAIL``.

    Args:
        name: the table's name, quoted for a statement.
        detail: the one row of the answer. Lists and maps may be JSON, as a server sends them.
        engine: the versions that will run the table's statements.

    Returns:
        The facts.

    Source:
        https://docs.delta.io/latest/delta-utility.html#retrieve-delta-table-details
    """
    return TableFacts(
        name=name,
        engine=engine,
        format=str(detail["format"]),
        properties=dict(_value(detail.get("properties")) or {}),
        features=frozenset(_value(detail.get("tableFeatures")) or ()),
        partition_columns=tuple(_value(detail.get("partitionColumns")) or ()),
    )


def engine_from_spark(spark: Version) -> Engine:
    """Give the engine of a server that tells the version of Spark only.

    Args:
        spark: the version that ``SELECT version()`` gives.

    Returns:
        The engine with the first Delta version that has type widening for that Spark: every Delta
        for Spark 4 is 4.0 or newer.

    Source:
        https://docs.delta.io/latest/releases.html#compatibility-with-apache-spark
    """
    return Engine(spark=spark, delta=DELTA_4_0 if spark >= (4,) else DELTA_3_2)


def _value(cell: Any) -> Any:
    return json.loads(cell) if isinstance(cell, str) else cell
