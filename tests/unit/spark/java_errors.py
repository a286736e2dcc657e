"""Errors of Spark as PySpark raises them, with the stack of Java."""

STACK = """
\tat org.apache.spark.sql.delta.DeltaErrorsBase.alterTableChangeColumnException(DeltaErrors.scala:838)
\tat org.apache.spark.sql.delta.DeltaErrorsBase.alterTableChangeColumnException$(DeltaErrors.scala:833)
\tat org.apache.spark.sql.delta.commands.AlterTableChangeColumnDeltaCommand.$anonfun$run$1(alterDeltaTableCommands.scala:901)
\tat scala.collection.immutable.List.foreach(List.scala:334)
\tat java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:103)
\tat org.apache.spark.sql.classic.SparkSession$$Lambda/0x00007f2c0c9a4a08.apply(Unknown Source)
\tat py4j.ClientServerConnection.run(ClientServerConnection.java:108)
\tat java.base/java.lang.Thread.run(Thread.java:1583)
"""  # noqa: E501

OVERFLOW = (
    '[CAST_OVERFLOW_IN_TABLE_INSERT] Fail to assign a value of "BIGINT" type to the "INT" type '
    "column or variable `v` due to an overflow. Use `try_cast` on the input value to tolerate "
    "overflow and return NULL instead. SQLSTATE: 22003"
)


def from_py4j(first: str, *causes: str) -> str:
    """The text of a Py4JJavaError, as PySpark raises it."""
    stacks = [f"{first}{STACK.rstrip()}"]
    stacks += [f"Caused by: {cause}{STACK.rstrip()}\n\t... 24 more" for cause in causes]
    return "An error occurred while calling o55.sql.\n: " + "\n".join(stacks) + "\n"


class Captured(Exception):
    """An exception of PySpark that has its causes in an attribute."""
