"""A schema for the tables of a conformance test."""

import pytest
from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def schema(spark: SparkSession):
    spark.sql("create schema if not exists conformance")
    yield "conformance"
    spark.sql("drop schema conformance cascade")
