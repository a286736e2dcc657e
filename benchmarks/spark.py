"""Read tables and stop Spark, in the processes of the benchmarks."""

from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Contents:
    """The contents of a table. They do not depend on the order of the rows.

    Attributes:
        types: the columns with their types, in order.
        rows: the number of rows.
        hash: the sum of the hashes of all rows. A row's hash includes every column.
    """

    types: str
    rows: int
    hash: str


class WrongResult(Exception):
    """A program did not do its work, so its time has no meaning."""


def contents(spark: SparkSession, relation: str) -> Contents:
    """Read the contents of a relation.

    Args:
        spark: the session.
        relation: a table's name, or a query in brackets.

    Returns:
        The contents. They are equal for two relations with the same types and rows.
    """
    frame = spark.sql(f"select * from {relation}")
    hashes = frame.selectExpr("cast(xxhash64(*) as decimal(38, 0)) as hash")
    rows, total = hashes.selectExpr("count(*)", "sum(hash)").collect()[0]
    return Contents(frame.schema.simpleString(), rows, str(total))


def check(what: str, found: Any, wanted: Any) -> None:
    """Compare a result with the expected one.

    Args:
        what: a description of the result, for the message.
        found: the result.
        wanted: the expected result.

    Raises:
        WrongResult: they are not equal.
    """
    if found != wanted:
        raise WrongResult(f"{what} is wrong.\nfound:  {found}\nwanted: {wanted}")


def end_spark() -> None:
    """Stop the Spark of the process, and wait until its JVM has ended.

    Otherwise, the JVM would slow down the next measurement, and would keep the lock of an embedded
    metastore.
    """
    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    if context is not None:
        context.stop()
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=120)
