"""What Delta says of a table and what the server says of itself, as values."""

from collections.abc import Iterable, Mapping

from dbt.adapters.deltawiden.widening.plan import TableFacts
from dbt.adapters.deltawiden.widening.rules import DELTA_3_2, DELTA_4_0, FEATURE, Engine, Version


def delta_facts(
    name: str,
    engine: Engine,
    properties: Mapping[str, str],
    partition_columns: Iterable[str] = (),
) -> TableFacts:
    """Read the answer of ``SHOW TBLPROPERTIES`` on a Delta table.

    ``DESCRIBE DETAIL`` tells the same, but counts the files too, for which Delta must read the
    table's whole state: seconds, where this takes a fraction of one.

    Args:
        name: the table's name, quoted for a statement.
        engine: the versions that will run the table's statements.
        properties: the answer; Delta lists the supported table features among the properties.
        partition_columns: the columns that the table is partitioned by.

    Returns:
        The facts.

    Source:
        https://docs.delta.io/latest/versioning.html (table features as table properties)
    """
    own = {key: value for key, value in properties.items() if not key.startswith(FEATURE)}
    features = {key.removeprefix(FEATURE) for key in properties if key.startswith(FEATURE)}
    return TableFacts(
        name=name,
        engine=engine,
        properties=own,
        features=frozenset(features),
        partition_columns=tuple(partition_columns),
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
