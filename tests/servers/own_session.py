"""The fixtures of lanes in which dbt's own session runs, with the settings of the lane.

A lane imports them, and says with its fixture ``session_parameters`` what the settings are.
"""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart

# For a cluster. The defaults are hundreds of tasks for a statement, which take most of its time on
# one machine.
FEW_TASKS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
}


@pytest.fixture(scope="session")
def spark(session_parameters: dict[str, str]) -> Iterator[SparkSession]:
    session = get_session(SparkStart.read(session_parameters))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def target(spark: SparkSession, session_parameters: dict[str, str]) -> dict[str, object]:
    return {"type": "deltawiden", "threads": 2, "server_side_parameters": session_parameters}


@pytest.fixture(scope="class")
def dbt_profile_target(target: dict[str, object]) -> dict[str, object]:
    return target
