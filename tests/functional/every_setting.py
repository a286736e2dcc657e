"""The settings that Spark and Delta have, each with the values that it is tried with."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.scala import java_class, texts
from dbt.adapters.deltawiden.spark.unsafe_settings import REFUSED_SETTINGS

DELTA = "spark.databricks.delta."

WITHOUT_A_WRITE = {
    # The tables of the project are written by batch statements of SQL.
    "spark.sql.streaming.": "streams",
    f"{DELTA}streaming.": "streams",
    "spark.sql.pipelines.": "declarative pipelines",
    "spark.sql.execution.py": "functions in Python",
    "spark.sql.execution.arrow.": "data frames in Python",
    "spark.sql.execution.pandas.": "data frames in Python",
    "spark.sql.pyspark.": "data frames in Python",
    "spark.sql.thrift": "the Thrift server itself",
    "spark.sql.cli.": "Spark's own command line",
    "spark.sql.repl.": "notebooks",
    # The project has only Delta tables.
    "spark.sql.avro.": "another format",
    "spark.sql.csv.": "another format",
    "spark.sql.json.": "another format",
    "spark.sql.orc.": "another format",
    "spark.sql.legacy.avro.": "another format",
    "spark.sql.legacy.csv.": "another format",
    "spark.sql.legacy.db2.": "another database",
    "spark.sql.legacy.mssqlserver.": "another database",
    "spark.sql.legacy.mysql.": "another database",
    "spark.sql.legacy.oracle.": "another database",
    "spark.sql.legacy.postgres.": "another database",
    "spark.sql.delta.sharing.": "Delta Sharing",
    f"{DELTA}convert.": "CONVERT TO DELTA",
    f"{DELTA}uniform.": "other formats beside Delta",
    f"{DELTA}vacuum.": "VACUUM",
    f"{DELTA}coordinatedCommits.": "catalogs that accept commits",
}
"""The beginnings of the names of settings that are not tried, and what they are about."""

NOT_TRIED = {
    "spark.sql.analyzer.maxIterations": "Spark stops to analyse a query before it is done",
    "spark.sql.optimizer.maxIterations": "Spark stops to optimize a query before it is done",
    "spark.sql.session.timeZone": "the walk has another zone than UTC",
    "spark.sql.session.localRelationSizeLimit": "Spark Connect only",
    f"{DELTA}testOnly.dataFileNamePrefix": "Delta's own tests",
    f"{DELTA}commitLock.enabled": "a lock among the writers of one process",
}

OTHERS = {
    f"{DELTA}merge.materializeSource": ("none", "all"),
    f"{DELTA}insertReplaceOnOrUsing.materializeSource": ("none", "all"),
    f"{DELTA}table.parquetV2.timestampOutputType": ("TIMESTAMP_MILLIS", "INT96"),
    f"{DELTA}v2.enableMode": ("STRICT", "NONE"),
    f"{DELTA}autoCompact.enabled": ("true",),
    f"{DELTA}optimizeWrite.enabled": ("true",),
    f"{DELTA}checkpointV2.topLevelFileFormat": ("json", "parquet"),
    f"{DELTA}properties.defaults.columnMapping.mode": ("name", "id"),
    f"{DELTA}properties.defaults.enableTypeWidening": ("true", "false"),
    f"{DELTA}properties.defaults.enableChangeDataFeed": ("true",),
    f"{DELTA}properties.defaults.enableDeletionVectors": ("true",),
    f"{DELTA}properties.defaults.enableRowTracking": ("true",),
    f"{DELTA}properties.defaults.dataSkippingNumIndexedCols": ("0", "1"),
    "spark.sql.sources.default": ("delta", "json"),
    "spark.sql.sources.useV1SourceList": ("avro",),
}
"""Settings whose values Spark does not check, or that are not registered."""

# With 1, each byte of a file is a task.
LEAST = {"spark.sql.files.maxPartitionBytes": "1000"}
"""The numbers that are tried in place of 1."""

ALONE = (
    f"{DELTA}dynamicPartitionOverwrite.enabled",
    f"{DELTA}hms.schema.forceAlterTableDataSchema",
    f"{DELTA}properties.defaults.columnMapping.mode",
    f"{DELTA}properties.defaults.minReaderVersion",
    f"{DELTA}properties.defaults.minWriterVersion",
    f"{DELTA}replaceWhere.dataColumns.enabled",
    f"{DELTA}v2.enableMode",
    f"{DELTA}write.txnVersion",
    "spark.sql.analyzer.singlePassResolver.enabled",
    "spark.sql.legacy.v1IdentifierNoCatalog",
    "spark.sql.maxBroadcastTableSize",
    "spark.sql.parquet.compression.codec",
)
"""Settings that stop a run. They are not tried together with others."""

_NUMBER = re.compile(r"a/an '(?:int|long|double|bytes in|time in)[^']*' value")
_CHOICE = re.compile(r"should be one of '([^']*)'")


@dataclass(frozen=True)
class Trial:
    """A setting with another value than its default."""

    name: str
    value: str


def trials(session: SparkSession) -> list[Trial]:
    """Return each setting that a session can change, with each of its other values."""
    found = [trial for trial in _all_trials(session) if _is_tried(trial)]
    return sorted(set(found), key=lambda trial: (trial.value, trial.name))


def groups(tried: list[Trial], size: int) -> Iterator[list[Trial]]:
    """Yield groups of trials with different names, which are set together."""
    yield from ([trial] for trial in tried if trial.name in ALONE)
    tried = [trial for trial in tried if trial.name not in ALONE]
    while tried:
        group: dict[str, Trial] = {}
        for trial in tried:
            if len(group) < size:
                group.setdefault(trial.name, trial)
        yield list(group.values())
        tried = [trial for trial in tried if group.get(trial.name) != trial]


def _is_tried(trial: Trial) -> bool:
    refused = any(
        trial.name in each.names and each.is_refused(trial.value) for each in REFUSED_SETTINGS
    )
    without_a_write = trial.name.startswith(tuple(WITHOUT_A_WRITE))
    return not (refused or trial.name in NOT_TRIED or without_a_write)


def _all_trials(session: SparkSession) -> Iterator[Trial]:
    probe = session.newSession()
    for entry in config_entries(probe):
        default = str(entry.defaultValueString())
        for name in names_of(entry):
            if probe.conf.isModifiable(name):
                yield from (Trial(name, value) for value in _values(probe, name, default))
    for name, values in OTHERS.items():
        assert all(_accepts(probe, name, value) for value in values), name
        yield from (Trial(name, value) for value in values)


def config_entries(session: SparkSession) -> Iterator[Any]:
    """Yield Spark's and Delta's own descriptions of their settings."""
    # Delta registers its settings when it is first used.
    session.sql("select 1").write.format("noop").mode("overwrite").save()
    conf = java_class(session, "org.apache.spark.sql.internal.SQLConf$")
    entries = getattr(conf, "MODULE$").getConfigEntries().iterator()
    while entries.hasNext():
        yield entries.next()


def names_of(entry: Any) -> list[str]:
    """Return the name of a setting, and its other names."""
    return [str(entry.key()), *filter(None, texts(entry.alternatives()))]


def _values(probe: SparkSession, name: str, default: str) -> list[str]:
    if default in ("true", "false"):
        return ["false" if default == "true" else "true"]
    try:
        probe.conf.set(name, "no such value")
    except Exception as error:
        text = str(error)
        choice = _CHOICE.search(text)
        if choice:
            return [value for value in choice[1].split(", ") if value.upper() != default.upper()]
        if "'boolean' value" in text:
            return ["true", "false"]
        is_other_number = _NUMBER.search(text) and default != "1"
        least = LEAST.get(name, "1")
        return [least] if is_other_number and _accepts(probe, name, least) else []
    probe.conf.unset(name)
    return []


def _accepts(probe: SparkSession, name: str, value: str) -> bool:
    try:
        probe.conf.set(name, value)
    except SPARK_ERRORS:
        return False
    probe.conf.unset(name)
    return True
