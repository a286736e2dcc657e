"""A schema for the tables of a conformance test, the engine, and where the counts go."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.widening.rules import Engine
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
    counts = Conformance(
        spark=".".join(map(str, engine.spark)),
        delta=".".join(map(str, engine.delta)),
        types=len(set(WIDENED) - types_lacking()),
    )
    yield counts
    file = request.config.getoption("--conformance-report")
    if file:
        counts.write(Path(file))
