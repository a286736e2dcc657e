"""Spark settings under which many small queries take a fraction of the time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

SMALL = {
    # How many tasks read a table's log. The default of 50 takes longer than the query itself.
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "1",
    # To compile a query takes longer than to run it on ten rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
}


@contextmanager
def settings_of(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Set values until the block ends."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)
