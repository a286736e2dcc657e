"""dbt's own session, with its tables on S3 and its metastore in PostgreSQL."""

from collections.abc import Iterator

import pytest

from tests.servers.object_storage import HADOOP_AWS, ObjectStorage, object_storage
from tests.servers.own_session import dbt_profile_target, spark, target  # noqa: F401 (fixtures)
from tests.servers.postgresql import jdbc_driver, metastore_database


@pytest.fixture(scope="session")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStorage]:
    with object_storage(tmp_path_factory.mktemp("s3")) as started:
        yield started


@pytest.fixture(scope="session")
def session_parameters(
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
