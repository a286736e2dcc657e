"""The text of an error of a Hive metastore that can't be opened."""

import pytest

from dbt.adapters.deltawiden.spark.errors import error_text, whole_text
from tests.unit.spark.java_errors import Captured, from_py4j

HIVE = (
    "org.apache.hadoop.hive.ql.metadata.HiveException: java.lang.RuntimeException: Unable to "
    "instantiate org.apache.hadoop.hive.ql.metadata.SessionHiveMetaStoreClient"
)
WITHOUT_REASON = (
    "ERROR XJ040: Failed to start database 'metastore_db' with class loader "
    "jdk.internal.loader.ClassLoaders$AppClassLoader@5ffd2b27, see the next exception for details."
)
LOCKED = "Another instance of Derby may have already booted the database /home/anna/metastore_db."
HALF_MADE = (
    "The database directory '/home/anna/metastore_db' exists. However, it does not contain the "
    "expected 'service.properties' file. Perhaps Derby was brought down in the middle of creating "
    "this database."
)


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (
            f"ERROR XSDB6: {LOCKED}",
            "The embedded metastore (/home/anna/metastore_db) is in use by another process: wait "
            "for the other dbt run to end, or use a metastore server. If keep_alive has kept a "
            "Spark alive: dbt run-operation stop_spark.",
        ),
        (
            f"ERROR XBM0A: {HALF_MADE}",
            "The embedded metastore (/home/anna/metastore_db) has no service.properties: the "
            "process that began to make it was stopped before any table was in it. Delete that "
            "folder, and run again.",
        ),
        (
            "java.net.ConnectException: Connection refused",
            "Spark can't open its Hive metastore: Connection refused. Its address is set "
            "by spark.hadoop.hive.metastore.uris in server_side_parameters, or in hive-site.xml.",
        ),
        (
            "java.sql.SQLException: No suitable driver found for jdbc:postgresql://db.example/hive",
            "Spark can't open its Hive metastore: No suitable driver found for "
            "jdbc:postgresql://db.example/hive. Spark needs the database's JDBC driver on Java's "
            "class path: set spark.driver.extraClassPath to the jar. The jars of "
            "spark.jars.packages are not enough.",
        ),
        (
            "MetaException(message:Version information not found in metastore. )",
            "Spark can't open its Hive metastore: Version information not found in metastore. "
            "The database has no tables of a Hive metastore. Hive's schematool creates them.",
        ),
    ],
)
def test_the_error_of_a_metastore_that_cannot_be_opened_shows_the_reason(cause: str, expected: str):
    raw = from_py4j(HIVE, "java.lang.reflect.InvocationTargetException", WITHOUT_REASON, cause)
    assert error_text(raw) == expected


def test_a_locked_derby_metastore_is_recognized_without_hive_too():
    assert "is in use by another process" in error_text(from_py4j(f"{WITHOUT_REASON}\n{LOCKED}"))


@pytest.mark.parametrize("attribute", ["_stackTrace", "stackTrace"])
def test_the_causes_that_pyspark_stores_separately_are_read(attribute: str):
    error = Captured(HIVE)
    stack = from_py4j(HIVE, f"ERROR XSDB6: {LOCKED}")
    setattr(error, attribute, stack)
    assert "is in use by another process" in error_text(error)
    assert whole_text(error).startswith(HIVE)
    assert whole_text(error).endswith(stack)
