"""Decide which runs can share a kept Spark, and which settings it starts with."""

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from glob import glob
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pyspark
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.__version__ import version as adapter_version
from dbt.adapters.deltawiden.spark.settings import spark_home
from dbt.adapters.deltawiden.spark.start import SparkStart
from dbt.adapters.deltawiden.spark.storage_folder import CONFIGURATION_FOLDERS, embedded_database
from dbt.adapters.deltawiden.sql.versions import read_version

LOOPBACK = "127.0.0.1"

_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
_DRIVER_OPTIONS = "spark.driver.extraJavaOptions"
_REUSE_PYTHON = "spark.python.worker.reuse"
# A JVM in which one statement has run out of memory is not to be trusted with the next one.
_EXIT_WITHOUT_MEMORY = "-XX:+ExitOnOutOfMemoryError"

# The variables that Spark, Java, Hadoop, their storage clients and Python read.
_VARIABLES = re.compile(
    "(SPARK|PYSPARK|PYTHON|HADOOP|YARN|HIVE|JAVA|JDK|AWS|AZURE|GOOGLE|LC)_.*"
    "|PYTHON.*|_JAVA_OPTIONS|JAVA_TOOL_OPTIONS|MASTER|TZ|LANG|HOME|USER|LD_LIBRARY_PATH"
    "|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY"
)
# They say how this process itself is connected to a Spark.
_OF_ANOTHER_SPARK = {
    *("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"),
    *("SPARK_API_MODE", "SPARK_LOCAL_REMOTE", "SPARK_REMOTE"),
    *("SPARK_CONNECT_AUTHENTICATE_TOKEN", "SPARK_CONNECT_MODE_ENABLED"),
}
# What `pyspark[connect]` adds to pyspark.
_CLIENT_PACKAGES = ("grpc", "grpc_status", "pandas", "pyarrow")
_PID_NAMESPACE = "/proc/self/ns/pid"
_TIME_ZONE_FILES = ("/etc/localtime", "/etc/timezone")
_FILES = ("spark.jars", "spark.files", "spark.submit.pyFiles", "spark.driver.extraClassPath")


def check_can_be_kept(start: SparkStart) -> None:
    """Check that the Spark of a profile can be kept alive, or raise a DbtConfigError.

    Source:
        https://github.com/apache/spark/blob/v4.0.0/sql/connect/server/src/main/scala/org/apache/spark/sql/connect/config/Connect.scala:
        ``spark.connect.authenticate.token`` is new in Spark 4.0.
    """
    if read_version(pyspark.__version__) < (4,):
        raise DbtConfigError(
            "keep_alive needs Spark 4.0 or newer, because the Spark Connect server of an older one "
            f"has no authentication; the installed pyspark is {pyspark.__version__}. Install a "
            "newer one, or remove keep_alive from the profile"
        )
    if missing := [name for name in _CLIENT_PACKAGES if find_spec(name) is None]:
        raise DbtConfigError(
            "keep_alive needs packages that are not installed: pip install "
            f"'pyspark[connect]=={pyspark.__version__}' (missing: {', '.join(missing)})"
        )
    if not start.is_on_one_machine:
        raise DbtConfigError(
            "keep_alive keeps a Spark on this machine, and the profile's spark.master is a "
            "cluster. Remove keep_alive, or use a Spark Connect server of the cluster: "
            "method: connect"
        )
    if start.is_submitted:
        raise DbtConfigError(
            "keep_alive starts a Spark of its own, and spark-submit has started one for this "
            "process. Remove keep_alive from the profile"
        )


def kept_start(start: SparkStart) -> SparkStart:
    """Return a start, completed with the settings of a Spark Connect server."""
    given = start.given
    plugins = [item for item in given.get("spark.plugins", "").split(",") if item.strip()]
    options = given.get(_DRIVER_OPTIONS, "")
    completed = {
        # A Python process that is used again has the user's modules as an earlier run imported
        # them.
        _REUSE_PYTHON: given.get(_REUSE_PYTHON, "false"),
        **start.profile,
        "spark.plugins": ",".join([*plugins, _PLUGIN]),
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": "0",  # any that is free
        _DRIVER_OPTIONS: f"{options} {_EXIT_WITHOUT_MEMORY}".strip(),
    }
    return SparkStart.read(completed, start.environment)


def kept_environment(start: SparkStart) -> dict[str, str]:
    """Return the environment variables that a kept Spark starts with."""
    kept = {key: start.environment[key] for key in start.environment.keys() - _OF_ANOTHER_SPARK}
    # A Spark Connect server reads only this variable. Functions need the Python that dbt has.
    return {**kept, "PYSPARK_PYTHON": start.python or sys.executable}


def settings_key(start: SparkStart) -> str:
    """Return a text that only runs with the same settings, versions and folder have."""
    settings, environment = start.every, start.environment
    java = environment.get("JAVA_HOME") or shutil.which("java", path=environment.get("PATH"))
    versions = [version(package) for package in ("dbt-spark", "pyspark", "delta-spark")]
    # The prefix, because `dbt` and `python -m dbt.cli.main` can run one environment's Python under
    # two names.
    python = [platform.python_version(), sys.prefix, pyspark.__file__]
    variables = filter(_VARIABLES.fullmatch, environment.keys() - _OF_ANOTHER_SPARK)
    decisive = [
        settings,
        [adapter_version, *versions, *python],
        os.path.realpath(java) if java else None,
        os.getcwd(),
        {key: environment[key] for key in variables},
        sorted(_files(settings, environment)),
    ]
    # Hashed, because the text is stored and the settings can have secrets.
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def _files(
    settings: Mapping[str, str], environment: Mapping[str, str]
) -> Iterator[tuple[str, int, int]]:
    """Yield the files that configure Spark, and the user's jars, with their states."""
    named = [environment[key] for key in CONFIGURATION_FOLDERS if environment.get(key)]
    folders = [*map(Path, named), spark_home(environment) / "conf"]
    files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    for key in _FILES:
        items = re.split(r"[,:]", settings.get(key, "").replace("file:", ""))
        files += [file for item in items if item.strip() for file in _named_files(item.strip())]
    # Java reads them unless TZ is set.
    files += [Path(os.path.realpath(file)) for file in _TIME_ZONE_FILES]
    for file in files:
        if file.is_file():
            status = file.stat()
            yield str(file), status.st_size, status.st_mtime_ns


def _named_files(item: str) -> list[Path]:
    """Return the files that an entry of a class path or of a list of files names."""
    if os.path.isdir(item):
        return [*Path(item).rglob("*")]
    return [Path(name) for name in glob(item)]


def place(start: SparkStart) -> str:
    """Return a text that only one kept Spark at a time may have.

    Only one process can open an embedded metastore, so a Spark with other settings has to end
    first. Sparks on other metastores can run beside each other.
    """
    return f"{_machine()} {embedded_metastore(start.every) or settings_key(start)}"


def _machine() -> str:
    """Return what only the processes have that can see and end each other.

    The user's cache folder may be on a file system that several machines or containers have. The
    ids of processes are those of a namespace, and containers can have the same host name:
    https://man7.org/linux/man-pages/man7/pid_namespaces.7.html
    """
    if sys.platform == "darwin":
        return ""  # The name of the host changes with the network.
    with contextlib.suppress(OSError):
        return f"{platform.node()} {os.readlink(_PID_NAMESPACE)}"
    return platform.node()


def embedded_metastore(settings: Mapping[str, str]) -> str | None:
    """Return the folder of the embedded metastore, or None if Spark uses another metastore."""
    url = embedded_database(
        settings.get("spark.sql.catalogImplementation"),
        lambda key: settings.get(f"spark.hadoop.{key}", settings.get(key)),
    )
    if url is None or ":memory:" in url:  # Nobody else can open a database in memory.
        return None
    named = re.search(r"databaseName=([^;]+)", url)
    folder = named[1] if named else url.removeprefix("jdbc:derby:").partition(";")[0]
    return os.path.realpath(folder or "metastore_db")
