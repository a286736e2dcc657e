"""The profile of the functional tests, and the tables that they ask Delta about."""

import pytest
from pyspark.sql import SparkSession

from tests.functional.support import Table


@pytest.fixture(scope="class")
def dbt_profile_target(spark: SparkSession, spark_parameters: dict[str, str]) -> dict[str, object]:
    return {"type": "deltawiden", "threads": 2, "server_side_parameters": spark_parameters}


@pytest.fixture
def table(project, spark: SparkSession):
    """A table of the test's schema, by its name."""
    return lambda name: Table(spark, f"{project.test_schema}.{name}")
