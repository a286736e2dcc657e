"""Choose the settings that Spark starts with, on this machine or on a cluster."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.machine import cores, memory_bytes
from dbt.adapters.deltawiden.spark.properties_file import read_settings
from dbt.adapters.deltawiden.spark.storage_folder import default_warehouse
from dbt.adapters.deltawiden.spark.submit import settings_files, submitted_settings

EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
CATALOG_SETTING = "spark.sql.catalog.spark_catalog"
CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"
AUTOMATIC_WIDENING = "spark.databricks.delta.typeWidening.allowAutomaticWidening"

DECIMAL_FILTERS = "spark.sql.parquet.filterPushdown.decimal"
LISTS_IN_FILTERS = "spark.sql.parquet.pushdown.inFilterThreshold"
ORC_FILTERS = "spark.sql.orc.filterPushdown"

SAFE_READS = {
    # Spark's Parquet reader converts the value of a filter to the type of an older file, in which
    # it can wrap around. See delta/stale_types.py.
    DECIMAL_FILTERS: "false",
    LISTS_IN_FILTERS: "0",  # Of the values of a list, Spark checks the range of the first alone.
}
SAFE_SETTINGS = {
    # In Delta 4.1 and newer, a write that evolves the schema can by default change an integer
    # column to decimal or double. With this value it makes only the other type changes.
    AUTOMATIC_WIDENING: "same_family_type",
    **SAFE_READS,
    # The statistics of ORC files have the milliseconds of a timestamp, and a filter with
    # microseconds skips its rows.
    ORC_FILTERS: "false",
}
"""Settings of every session. Only ``server_side_parameters`` take precedence."""

_ICEBERG_CATALOGS = frozenset(
    {"org.apache.iceberg.spark.SparkCatalog", "org.apache.iceberg.spark.SparkSessionCatalog"}
)
_CATALOG_SETTING = re.compile(r"spark\.sql\.catalog\.[^.]+")

_CLASS_PATH_SETTINGS = ("spark.jars", "spark.driver.extraClassPath", "spark.submit.pyFiles")
_DELTA_PACKAGE = re.compile(r"io\.delta:delta-(spark|core)[_:]")
_DELTA_JAR = re.compile(r"delta-spark[\w.]*-\d")


def choose_settings(
    profile: Mapping[str, str], outside: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Choose the settings that Spark is given: those of the profile, and those that it leaves out.

    Args:
        profile: ``server_side_parameters``. They take precedence over everything.
        outside: the user's settings that are not in the profile (``outside_settings``). They take
            precedence over the settings that are chosen here, and are not repeated.
    """
    given = {**outside, **profile}
    settings = {
        "spark.app.name": "dbt-deltawiden",
        # Tables outlive the process, as they do with dbt-spark.
        "spark.sql.catalogImplementation": "hive",
        **SAFE_SETTINGS,
        **_delta(given, bundled_jars_dir(environment)),
        **_java_time_zone(given),
        **default_warehouse(given, environment),
        **iceberg_settings(given),
    }
    settings["spark.master"] = given.get("spark.master", environment.get("MASTER", "local[*]"))
    if is_local(settings["spark.master"]):
        settings.update(_one_machine(settings["spark.master"]))
    chosen = {key: value for key, value in settings.items() if key not in given}
    # These already include the user's own values.
    joined = {key: settings[key] for key in _JOINED if key in settings}
    return {**chosen, **profile, **joined}


def bundled_jars_dir(environment: Mapping[str, str]) -> Path:
    """Return the folder with the jars that are part of Spark itself."""
    return spark_home(environment) / "jars"


def is_local(master: str) -> bool:
    """Return whether a value of ``spark.master`` means that Spark runs on this machine alone."""
    return master.startswith("local")


def outside_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the user's settings of Spark that are not in the profile.

    They are in ``spark-defaults.conf``, or in the file that ``PYSPARK_SUBMIT_ARGS`` names in its
    place, and in ``PYSPARK_SUBMIT_ARGS`` itself, which takes precedence.

    Source:
        https://spark.apache.org/docs/latest/configuration.html#dynamically-loading-spark-properties
    """
    settings: dict[str, str] = {}
    for file in settings_files(environment, defaults_file(environment)):
        settings |= read_settings(file)
    return {**settings, **submitted_settings(environment)}


def iceberg_settings(session: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that stop Iceberg's catalogs from caching tables in a session.

    Each session has its own cache. A session that has read a table would not see what other
    sessions write to it. On a server, each thread of dbt has its own session; elsewhere, a node
    that needs a setting has a copy. A setting of the user's is left as it is.

    Source:
        https://iceberg.apache.org/docs/latest/spark-configuration/#catalog-configuration
        (``cache-enabled``)
    """
    catalogs = (
        key
        for key, name in session.items()
        if _CATALOG_SETTING.fullmatch(key) and name in _ICEBERG_CATALOGS
    )
    settings = (f"{catalog}.cache-enabled" for catalog in catalogs)
    return {key: "false" for key in settings if key not in session}


TIME_ZONE = "spark.sql.session.timeZone"
"""Spark sends a session's settings to the executors only if they are set: no defaults. An executor
would take the time zone of its own Java. Delta reads partition values there."""

_JAVA_OPTIONS = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
_JOINED = ("spark.jars.packages", "spark.sql.extensions", *_JAVA_OPTIONS)


def _java_time_zone(given: Mapping[str, str]) -> dict[str, str]:
    """Return the Java options that set Java's time zone to that of the session.

    If the two differ, Delta 3.3 and 4.0 shift a timestamp that partitions a table by the
    difference: they write it in the session's time zone, and mark it as UTC.
    """
    zone = given.get(TIME_ZONE, "")
    if not re.fullmatch(r"[\w/+:-]+", zone):
        return {}
    java_zone = f"GMT{zone}" if zone[0] in "+-" else zone
    options = {key: given.get(key, "") for key in _JAVA_OPTIONS}
    return {
        key: f"{text} -Duser.timezone={java_zone}".strip()
        for key, text in options.items()
        if "-Duser.timezone" not in text
    }


def _delta(given: Mapping[str, str], own: Path) -> dict[str, str]:
    """Return Delta's settings: jars that match the installed packages, extension and catalog."""
    extensions = items(given.get("spark.sql.extensions", ""))
    if EXTENSION not in extensions:
        extensions.append(EXTENSION)
    settings = {"spark.sql.extensions": ",".join(extensions), CATALOG_SETTING: CATALOG}
    packages = items(given.get("spark.jars.packages", ""))
    named = any(_DELTA_PACKAGE.match(package) for package in packages)
    if not named and not _has_delta_jars(given, own):
        settings["spark.jars.packages"] = _packages_with_delta(packages)
    return settings


def _packages_with_delta(packages: list[str]) -> str:
    from delta.pip_utils import configure_spark_with_delta_pip  # It loads all of Delta's modules.

    # Delta's own function knows the name of its artifact for the installed Spark. It takes a
    # builder, and a builder has no public API to read its options.
    builder = configure_spark_with_delta_pip(SparkSession.Builder(), extra_packages=packages)
    return str(builder._options["spark.jars.packages"])


def _has_delta_jars(given: Mapping[str, str], own: Path) -> bool:
    jars = [item for key in _CLASS_PATH_SETTINGS for item in items(given.get(key, ""))]
    jars += os.listdir(own) if own.is_dir() else []
    return any(_DELTA_JAR.search(jar) for jar in jars)


def _one_machine(master: str) -> dict[str, str]:
    """Return settings for Spark on one machine: closed to other users, and fit for small data."""
    parallelism = str(max(cores(), 2))
    return {
        # Every user of the machine can reach a port of 127.0.0.1, and Spark's RPC obeys everybody.
        # With a secret, which Spark makes for itself, it answers its own process alone. Spark makes
        # none for local-cluster, which is only for its tests (``SecurityManager.initializeAuth``):
        # https://github.com/apache/spark/blob/v4.0.0/core/src/main/scala/org/apache/spark/SecurityManager.scala
        "spark.authenticate": "false" if master.startswith("local-cluster") else "true",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Half of the machine's or container's memory. Spark's default is 1 GB everywhere.
        "spark.driver.memory": f"{max((memory_bytes() or 0) // 2 // 2**20, 1024)}m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # The default of 200, like that of 50 below, is made for clusters. A small statement would
        # spend most of its time on starting empty tasks.
        "spark.sql.shuffle.partitions": parallelism,
        # VACUUM starts as many tasks to list a table's folders. The default is 10,000.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": parallelism,
        # Each of these tasks generates the code for the log's rows again. Two tasks are not faster
        # than one for a table of 20,000 files.
        "spark.databricks.delta.snapshotPartitions": "1",
        # The list of files in the checksum of each commit. Unless the time zone is UTC, Delta reads
        # the table's whole state after every commit to verify that list, which takes four fifths of
        # the time of a small commit.
        "spark.databricks.delta.allFilesInCrc.enabled": "false",
    }


def spark_home(environment: Mapping[str, str]) -> Path:
    """Return the folder of Spark itself."""
    return Path(environment.get("SPARK_HOME") or os.path.dirname(pyspark.__file__))


def defaults_file(environment: Mapping[str, str]) -> Path:
    """Return the file with the user's default settings. It may not exist."""
    folder = environment.get("SPARK_CONF_DIR") or str(spark_home(environment) / "conf")
    return Path(folder) / "spark-defaults.conf"


def items(text: str) -> list[str]:
    """Return the items of a list in a setting, which has commas between them."""
    return [item.strip() for item in text.split(",") if item.strip()]
