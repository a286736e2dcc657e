"""dbt's own session, with its tables on S3 and its metastore in PostgreSQL."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.session import get_session
from tests.servers.object_storage import HADOOP_AWS, ObjectStorage, object_storage
from tests.servers.postgresql import jdbc_driver, metastore_database


@pytest.fixture(scope="session")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStorage]:
    with object_storage(tmp_path_factory.mktemp("s3")) as started:
        yield started


@pytest.fixture(scope="session")
def storage_parameters(
    spark_parameters: dict[str, str], storage: ObjectStorage
) -> Iterator[dict[str, str]]:
    with metastore_database(jdbc_driver()) as database:
        yield {
            **spark_parameters,
            **database,
            **storage.settings,
            "spark.jars.packages": HADOOP_AWS,
            "spark.driver.memory": "2g",
            # Off by default on S3. The operation `vacuum` reads the number of deleted files there.
            "spark.databricks.delta.vacuum.logging.enabled": "true",
        }


@pytest.fixture(scope="session")
def spark(storage_parameters: dict[str, str]) -> Iterator[SparkSession]:
    session = get_session(storage_parameters)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def target(spark: SparkSession, storage_parameters: dict[str, str]) -> dict[str, object]:
    return {"type": "deltawiden", "threads": 2, "server_side_parameters": storage_parameters}


@pytest.fixture(scope="class")
def dbt_profile_target(target: dict[str, object]) -> dict[str, object]:
    return target
