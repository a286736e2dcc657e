"""Another program's Spark on the same tables: its filters have Spark's default settings."""

from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.settings import DECIMAL_FILTERS, LISTS_IN_FILTERS

DEFAULTS = {DECIMAL_FILTERS: "true", LISTS_IN_FILTERS: "10"}


def plain(spark: SparkSession) -> SparkSession:
    """Return a session with the settings that Spark's Parquet filters have by default."""
    session = spark.newSession()
    for key, value in DEFAULTS.items():
        session.conf.set(key, value)
    return session


def count(session: SparkSession, table: str, condition: str) -> int:
    """Count the rows that a filter finds."""
    return session.table(table).where(condition).count()
