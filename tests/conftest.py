"""One Spark, one metastore and one folder for all tests of a process."""

import os
import platform
import subprocess
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import jinja2
import jinja2.nodes
import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.engine import Engine, read_engine
from dbt.adapters.deltawiden.spark.session import get_session
from dbt.adapters.deltawiden.spark.start import SparkStart
from tests.small import SMALL

pytest_plugins = ["dbt.tests.fixtures.project"]

# For each Java process of the tests. G1, the default collector, needs a part of the second core.
# With -Xshare, no dbt process of a test makes an archive of classes in the background.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:+UseParallelGC -Xshare:auto")


# The same examples in each run, so that a change only fails for what it changes. make test-random
# draws others. A shared machine can be slow at any moment, so examples have no deadline.
settings.register_profile("same", derandomize=True, max_examples=50, deadline=None, print_blob=True)
settings.register_profile("random", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def _versions(record_testsuite_property: Callable[[str, object], None]) -> None:
    """Record the versions of a run in its results (``--junit-xml``)."""
    record_testsuite_property("python", platform.python_version())
    for package in ("dbt-core", "dbt-spark", "pyspark", "delta-spark"):
        record_testsuite_property(package, version(package))
    commit = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    described = subprocess.run(commit, capture_output=True, text=True, check=False)
    record_testsuite_property("commit", described.stdout.strip() or "unknown")


@pytest.fixture(scope="session", autouse=True)
def _macros_parsed_once() -> Iterator[None]:
    """Keep the syntax trees of macros, which dbt only reads.

    Nearly each command of a test has other variables than the one before, so dbt parses its own 600
    macros again, twice each. It takes longer than most of the statements that a test runs.
    """
    parse = jinja2.Environment.parse
    trees: dict[tuple[type, str], jinja2.nodes.Template] = {}

    def parse_once(self: jinja2.Environment, source: str, *of: str | None) -> jinja2.nodes.Template:
        key = (type(self), source)
        if key not in trees:
            trees[key] = parse(self, source, *of)
        return trees[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja2.Environment, "parse", parse_once)
        yield


@pytest.fixture(scope="session")
def spark_parameters(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("spark")
    return {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={folder / 'metastore_db'};create=true"
        ),
        # No test needs the metastore after a crash, so Derby need not wait for the disk.
        "spark.driver.extraJavaOptions": (
            f"-Dderby.stream.error.file={folder / 'derby.log'} -Dderby.system.durability=test"
        ),
        # As in dbt-spark. With Spark 4's default a cast in a test would fail, not lose a value.
        "spark.sql.ansi.enabled": "false",
        "spark.driver.memory": "4g",
        # Spark 4's defaults; Spark 3.5 refuses to write dates before 1582 unless they are set.
        "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
        "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
        # A zone with daylight saving time, so that there are skipped and repeated hours.
        "spark.sql.session.timeZone": "America/New_York",
        **(SMALL if request.config.getoption("--small-tables") else {}),
    }


@pytest.fixture(scope="session")
def spark(spark_parameters: dict[str, str]) -> Iterator[SparkSession]:
    session = get_session(SparkStart.read(spark_parameters))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def engine(spark: SparkSession) -> Engine:
    return read_engine(lambda query: spark.sql(query).collect())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--conformance-report", help="a JSON file for what the conformance tests counted"
    )
    parser.addoption(
        "--deaths", type=int, default=3, help="how many commands each test of random deaths kills"
    )
    parser.addoption(
        "--other-walks", type=int, default=0, help="which walks test the promise; at most 9"
    )
    parser.addoption(
        "--small-tables",
        action="store_true",
        help="settings of Spark under which statements on small tables are quicker",
    )
    parser.addoption("--readers-page", help="the page for what other readers can do with a table")
    parser.addoption("--pictures", help="the folder for pictures of pages; needs Chromium")
    parser.addoption(
        "--dbt-adapter",
        choices=("deltawiden", "spark"),
        default="deltawiden",
        help="the adapter that dbt's own test suite runs on",
    )


@pytest.fixture
def by_sql_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the adapter use SQL alone, as it does on a Thrift server."""
    monkeypatch.setattr(
        "dbt.adapters.deltawiden.services.choose_backend", lambda method, *rest: SqlBackend(*rest)
    )
