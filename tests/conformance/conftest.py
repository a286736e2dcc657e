"""A schema for the tables of a conformance test, the engine, and where the counts go."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.engine import Engine
from tests.conformance.report import Conformance
from tests.conformance.types import WIDENED, types_lacking


@pytest.fixture(scope="module")
def schema(spark: SparkSession) -> Iterator[str]:
    spark.sql("create schema if not exists conformance")
    yield "conformance"
    spark.sql("drop schema conformance cascade")


@pytest.fixture(scope="session")
def conformance(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Conformance]:
    """The counts, written to the file that --conformance-report names."""
    named = request.config.getoption("--conformance-report")
    file = Path(named) if named else None
    # If one test runs again alone, the counts of the others stay.
    counts = Conformance.read(file) if file and file.exists() else Conformance()
    counts.spark = ".".join(map(str, engine.spark))
    counts.delta = ".".join(map(str, engine.delta))
    counts.types = len(set(WIDENED) - types_lacking())
    yield counts
    if file:
        counts.write(file)
