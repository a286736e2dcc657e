"""The tables and programs of these tests."""

from collections.abc import Mapping

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.operations.delta_clients import State
from tests.readers.programs import PROGRAMS, Program
from tests.readers.tables import Table, make_tables

SETTINGS = {
    # Dropping a feature writes checkpoints. With the default a checkpoint has fifty parts.
    "spark.databricks.delta.snapshotPartitions": "1",
    # Otherwise no history shorter than a day can be truncated.
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """A separate session, for its settings."""
    own = spark.newSession()
    for key, value in SETTINGS.items():
        own.conf.set(key, value)
    return own


@pytest.fixture(scope="module")
def tables(
    session: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[State, Table]:
    return make_tables(session, tmp_path_factory.mktemp("readers"))


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda program: program.__name__)
def program(request: pytest.FixtureRequest) -> Program:
    return request.param()
