"""A cache folder and a metastore for the kept Sparks of the tests. None is left at the end."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.keep_alive.session import open_kept, release_kept
from dbt.adapters.deltawiden.spark.keep_alive.status import stop_kept
from dbt.adapters.deltawiden.spark.start import SparkStart

JARS = Path("~/.cache/dbt-deltawiden").expanduser()


@pytest.fixture(scope="session", autouse=True)
def modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with Python modules of the user. Each kept Spark has ended when the tests end."""
    folder = tmp_path_factory.mktemp("user")
    cache = folder / "cache" / "dbt-deltawiden"
    cache.mkdir(parents=True)
    for jars in JARS.glob("*.json"):  # so that they are not resolved again
        shutil.copy(jars, cache)
    (folder / "modules").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache.parent))
        patch.setenv("PYTHONPATH", str(folder / "modules"))
        patch.syspath_prepend(folder / "modules")
        patch.chdir(folder)
        yield folder / "modules"
        release_kept()
        assert [stopped for stopped in stop_kept(everywhere=True) if stopped.error] == []


@pytest.fixture(scope="session")
def parameters(spark_parameters: dict[str, str]) -> dict[str, str]:
    return {**spark_parameters, "spark.driver.memory": "1200m"}


@pytest.fixture(scope="class")
def dbt_profile_target(parameters: dict[str, str]) -> dict[str, object]:
    return {
        "type": "deltawiden",
        "threads": 2,
        "keep_alive": "5m",
        "server_side_parameters": parameters,
    }


@pytest.fixture(scope="module")
def spark(parameters: dict[str, str]) -> Iterator[SparkSession]:
    """The session that reads the tables for the tests."""
    connection = open_kept(SparkStart.read(parameters), 300)
    yield connection.session
    connection.close()
    release_kept()
