"""One Spark Connect server, with its tables on S3 and its metastore in PostgreSQL."""

from collections.abc import Iterator

import pytest

from tests.servers.connect.conftest import dbt_profile_target, target  # noqa: F401 (fixtures)
from tests.servers.jars import resolved_jars
from tests.servers.object_storage import HADOOP_AWS, object_storage
from tests.servers.postgresql import jdbc_driver, metastore_database


@pytest.fixture(scope="session")
def delta_jars() -> str:
    return ",".join(resolved_jars(HADOOP_AWS))


@pytest.fixture(scope="session")
def server_settings(
    spark_parameters: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    with (
        object_storage(tmp_path_factory.mktemp("s3")) as storage,
        metastore_database(jdbc_driver()) as database,
    ):
        yield {**spark_parameters, **storage.settings, **database}


@pytest.fixture(scope="session")
def rounds() -> int:
    return 20
