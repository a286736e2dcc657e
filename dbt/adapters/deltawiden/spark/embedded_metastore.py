"""Configure the metastore that Spark embeds in this process if the profile names no other."""

from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.scala import hadoop_configuration, java_class
from dbt.adapters.deltawiden.spark.storage_folder import embedded_database

_MAX_VIEW_CHARACTERS = 32_000
"""The length up to which the text of a view always fits. Derby's LONG VARCHAR holds 32,700
characters: https://db.apache.org/derby/docs/10.16/ref/rrefsqlj15147.html."""

_COLUMNS = ("VIEW_ORIGINAL_TEXT", "VIEW_EXPANDED_TEXT")


def is_long(query: str) -> bool:
    """Return whether the text of a view may be too long for the embedded metastore."""
    return len(query) > _MAX_VIEW_CHARACTERS


def allow_long_views(session: SparkSession) -> None:
    """Change the embedded metastore so that it stores view texts of any length. Others stay.

    Hive's schema for Derby declares these texts as LONG VARCHAR. Its schemas for other databases
    use a type without a length limit, which is CLOB in Derby. The columns keep their values.
    """
    catalog = session.conf.get("spark.sql.catalogImplementation")
    url = embedded_database(catalog, hadoop_configuration(session).get)
    if url is None:
        return
    try:
        _change_columns(session, url)
    except SPARK_ERRORS as error:
        # The statement that creates the view will fail and say that its text is too long.
        logger.debug(f"The embedded metastore could not be changed to take long views: {error}")


def _change_columns(session: SparkSession, url: str) -> None:
    # Use the driver's class: DriverManager only offers the drivers of the caller's class loader.
    driver = java_class(session, "org.apache.derby.jdbc.EmbeddedDriver")()
    properties = java_class(session, "java.util.Properties")()
    connection = driver.connect(url.replace(";create=true", ""), properties)
    try:
        connection.setAutoCommit(False)
        for column in _COLUMNS:
            if _type_of(connection, column) == "LONG VARCHAR":
                _make_clob(connection, column)
        connection.commit()
    finally:
        connection.rollback()
        connection.close()


def _type_of(connection: Any, column: str) -> str | None:
    found = connection.getMetaData().getColumns(None, None, "TBLS", column)
    try:
        return str(found.getString("TYPE_NAME")) if found.next() else None
    finally:
        found.close()


def _make_clob(connection: Any, column: str) -> None:
    # Derby can't alter a column from LONG VARCHAR to CLOB.
    statement = connection.createStatement()
    try:
        statement.execute(f"alter table TBLS add column {column}_LONG clob")
        statement.execute(f"update TBLS set {column}_LONG = cast({column} as clob)")
        statement.execute(f"alter table TBLS drop column {column}")
        statement.execute(f"rename column TBLS.{column}_LONG to {column}")
    finally:
        statement.close()
