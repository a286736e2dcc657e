"""What the processes of the benchmarks ask of the SparkSession that they have."""

from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Contents:
    """What a table holds, whatever the order of its rows.

    Attributes:
        types: its columns with their types, in order.
        rows: how many rows it has.
        hash: the sum of the hashes of all rows, each with every column in it.
    """

    types: str
    rows: int
    hash: str


class WrongResult(Exception):
    """A program was fast, or slow, and did not do the work."""


def contents(spark: SparkSession, relation: str) -> Contents:
    """Read what a relation holds.

    Args:
        spark: the session.
        relation: a table's name, or a query in brackets.

    Returns:
        Its contents; equal for two relations of the same types and rows.
    """
    frame = spark.sql(f"select * from {relation}")
    hashes = frame.selectExpr("cast(xxhash64(*) as decimal(38, 0)) as hash")
    rows, total = hashes.selectExpr("count(*)", "sum(hash)").collect()[0]
    return Contents(frame.schema.simpleString(), rows, str(total))


def check(what: str, found: Any, wanted: Any) -> None:
    """Hold a result against the one that is right.

    Args:
        what: what it is, for the message.
        found: the result.
        wanted: what it has to be equal to.

    Raises:
        WrongResult: it is another.
    """
    if found != wanted:
        raise WrongResult(f"{what} is wrong.\nfound:  {found}\nwanted: {wanted}")


def end_spark() -> None:
    """Stop the process's Spark, and wait until its JVM is gone.

    A JVM that is still ending would slow down what is measured next, and would keep the lock of
    an embedded metastore.
    """
    context, gateway = SparkContext._active_spark_context, SparkContext._gateway
    if context is not None:
        context.stop()
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=120)
