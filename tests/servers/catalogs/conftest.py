"""Spark with a second catalog: Iceberg's own, which keeps its tables in a folder."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.functional.support import Table
from tests.servers.own_session import dbt_profile_target, spark, target  # noqa: F401 (fixtures)

# For the Spark that the tests are pinned to.
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"


@pytest.fixture(scope="session")
def session_parameters(
    spark_parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("lake")
    return {**spark_parameters, **iceberg_parameters(folder, {"type": "hadoop"})}


def iceberg_parameters(folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings for a catalog ``lake``.

    Args:
        folder: the folder of its tables.
        settings: the settings of the catalog, without their prefix.
    """
    catalog = "spark.sql.catalog.lake"
    return {
        "spark.jars.packages": ICEBERG,
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.warehouse": str(folder),
        # A session that caches a table has its old rows then, however slow the test is.
        f"{catalog}.cache.expiration-interval-ms": "-1",
        **{f"{catalog}.{key}": value for key, value in settings.items()},
    }


@pytest.fixture(scope="class")
def lake(project, spark: SparkSession) -> Callable[[str], Table]:  # noqa: F811
    """Return what finds a table of the project in the catalog ``lake``, as it is now."""

    def find(name: str) -> Table:
        table = Table(spark, f"lake.{project.test_schema}.{name}")
        spark.sql(f"refresh table {table.name}")
        return table

    return find
