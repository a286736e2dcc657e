"""Describe the kept Spark of a profile, and end kept Sparks."""

import os
import time
from dataclasses import dataclass
from datetime import datetime

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.spark.keep_alive.client import end, health_problem
from dbt.adapters.deltawiden.spark.keep_alive.settings import place, settings_key
from dbt.adapters.deltawiden.spark.keep_alive.state import (
    KeptSpark,
    LockIsHeld,
    SparkFolder,
    spark_folder,
    spark_folders,
)
from dbt.adapters.deltawiden.spark.start import SparkStart

_SECONDS_TO_LOCK = 5


def kept_text(start: SparkStart) -> str:
    """Describe the kept Spark of a profile in one line."""
    try:
        folder = spark_folder(place(start), start.environment)
        with folder.locked(seconds=1):
            return _text(folder, settings_key(start))
    except LockIsHeld:
        return "a dbt command is starting it"
    except (DbtRuntimeError, OSError) as error:
        return str(error)


def _text(folder: SparkFolder, key: str) -> str:
    spark = folder.read()
    if spark is None or not spark.is_running:
        return "not running"
    if spark.key != key:
        others = "runs with other settings, versions or environment variables"
        return f"{others}: the next run ends it and starts another one ({_details(spark)})"
    problem = health_problem(spark, folder.is_used)
    if problem is not None:
        return f"{problem}. The next run ends it and starts another one ({_details(spark)})"
    return f"{_details(spark)}, {_until(folder)}"


def _details(spark: KeptSpark) -> str:
    resident = spark.jvm.resident_bytes
    occupied = f", occupies {resident / 2**20:,.0f} MB" if resident else ""
    return (
        f"process {spark.jvm.pid}, running since {_time(spark.started)}, "
        f"spark.driver.memory {spark.memory}{occupied}"
    )


def _until(folder: SparkFolder) -> str:
    if folder.is_used:
        return "in use by a dbt command"
    used, keep_alive = folder.last_use or (time.time(), 0)
    # A clock that was set back gives the last use a time in the future.
    return f"ends at {_time(min(used, time.time()) + keep_alive)} unless it is used before"


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M:%S}"


@dataclass(frozen=True)
class Stopped:
    """What became of one kept Spark.

    Attributes:
        spark: None if it can't be read.
        error: why the Spark still runs. Empty if it has ended.
    """

    spark: KeptSpark | None
    error: str = ""


def stop_kept(everywhere: bool) -> list[Stopped]:
    """End the kept Sparks that no dbt command uses, and return what became of each.

    Args:
        everywhere: whether to end all of the user's. Otherwise only those end that were started in
            the working folder of this process.
    """
    stopped = (_stop(folder, everywhere) for folder in spark_folders(os.environ))
    return [each for each in stopped if each is not None]


def _stop(folder: SparkFolder, everywhere: bool) -> Stopped | None:
    seen = None
    try:
        with folder.explained():
            seen = folder.read()
        if seen is None or not (everywhere or seen.folder == os.getcwd()):
            return None
        with folder.explained(), folder.locked(_SECONDS_TO_LOCK):
            spark = folder.read()
            if spark is None:
                return None
            if spark.is_running and folder.is_used:
                return Stopped(
                    spark, "a dbt command is using it; wait until that command has ended"
                )
            end(spark, folder, gently=spark.is_running)
            return Stopped(spark)
    except DbtRuntimeError as error:
        return Stopped(seen, str(error.msg))


def kept_elsewhere() -> list[str]:
    """Return the other folders in which the user has started kept Sparks that still run."""
    found = (folder.read() for folder in spark_folders(os.environ))
    running = {spark.folder for spark in found if spark is not None and spark.is_running}
    return sorted(running - {os.getcwd()})
