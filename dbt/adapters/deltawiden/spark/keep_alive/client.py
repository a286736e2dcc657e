"""Attach a dbt command to a kept Spark, and start or end one."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.announce import announced
from dbt.adapters.deltawiden.spark.connect import remote_builder
from dbt.adapters.deltawiden.spark.embedded import SparkDidNotStart
from dbt.adapters.deltawiden.spark.errors import error_text
from dbt.adapters.deltawiden.spark.keep_alive.channel import NEEDED_BY, server_problem
from dbt.adapters.deltawiden.spark.keep_alive.processes import wait_until_ended
from dbt.adapters.deltawiden.spark.keep_alive.settings import (
    check_can_be_kept,
    kept_environment,
    place,
    settings_key,
)
from dbt.adapters.deltawiden.spark.keep_alive.state import (
    KeptSpark,
    SparkFolder,
    Use,
    remove_unused,
    spark_folder,
)
from dbt.adapters.deltawiden.spark.redaction import scrubbed
from dbt.adapters.deltawiden.spark.start import SparkStart

_SERVER = "dbt.adapters.deltawiden.spark.keep_alive.server"
# Not -m: it would add the working folder to the places that Python imports from.
_PROGRAM = f"import sys; sys.path = [p for p in sys.path if p]; from {_SERVER} import main; main()"
_PROBE_SECONDS = 20
_PROBE_SECONDS_IF_USED = 60  # It may be busy, and ending it would end the others' runs.
_SECONDS_TO_END = 15
_running: list[subprocess.Popen[bytes]] = []  # A collected Popen warns about its process.


class SparkIsUsed(DbtRuntimeError):
    """The Spark of the metastore can't be used, nor ended, because another dbt command uses it."""


@dataclass(frozen=True)
class Attached:
    """A kept Spark that this process uses and perhaps has started, its use, and Spark's own log."""

    spark: KeptSpark
    use: Use
    is_new: bool
    log: Path


def attach(start: SparkStart, keep_alive: int) -> Attached:
    """Attach to the kept Spark with the same settings. If there is none that answers, start one.

    Args:
        keep_alive: how many seconds Spark must live after its last use.

    Raises:
        DbtConfigError: the Spark of this profile can't be kept alive.
        SparkDidNotStart: Spark could not be started.
        SparkIsUsed: a dbt command uses a Spark on the same metastore that has other settings, or
            that may still run a statement of a command that was killed.
        DbtRuntimeError: a file in the folder of the Spark can't be written.
    """
    check_can_be_kept(start)
    key = settings_key(start)
    folder = spark_folder(place(start), start.environment)
    with folder.explained(), folder.locked() as lock:
        spark = folder.read()
        if spark is not None and not _is_usable(spark, key, folder):
            end(spark, folder, gently=spark.is_running)
            spark = None
        is_new = spark is None
        started = spark or _start(folder, lock, start, key, keep_alive)
        return Attached(started, folder.use(keep_alive), is_new, folder.spark_log)


def _is_usable(spark: KeptSpark, key: str, folder: SparkFolder) -> bool:
    if not spark.is_running:
        logger.debug(f"The Spark that was kept alive has ended: {_named(spark)}")
        return False
    if spark.key != key:
        if folder.is_used:
            raise SparkIsUsed(
                "Spark is kept alive with other settings, versions or environment variables "
                f"({_named(spark)}), and another dbt command is using it and its metastore. Wait "
                "until that command has ended, or give this target a metastore of its own"
            )
        logger.debug(f"The Spark that was kept alive has other settings: {_named(spark)}")
        return False
    if not spark.has_its_folders:
        if folder.is_used:
            raise SparkIsUsed(
                "The folder of the project or of the embedded metastore was deleted since Spark "
                f"was started that is kept alive ({_named(spark)}), and another dbt command is "
                "using this Spark. Wait until that command has ended, and run again"
            )
        logger.debug(f"A folder of the Spark that was kept alive was deleted: {_named(spark)}")
        return False
    if folder.was_killed:
        killed = (
            f"A dbt command that used the Spark that was kept alive ({_named(spark)}) was killed"
        )
        if folder.is_used:
            raise SparkIsUsed(
                f"{killed}. Spark may still run its last statement, and another dbt command is "
                "using this Spark, so that it can't be ended now. Wait until that command has "
                "ended, and run again"
            )
        logger.warning(
            f"{killed}. Spark may still run its last statement, so it is ended, and another one is "
            "started."
        )
        return False
    if problem := health_problem(spark, folder.is_used):
        logger.warning(f"{problem}. It is ended, and another one is started.")
        # A hung JVM would not end by itself.
        spark.jvm.send(signal.SIGKILL)
        return False
    return True


def health_problem(spark: KeptSpark, is_used: bool) -> str | None:
    """Return why a Spark can't be used. None if it runs a task, or is only busy with others."""
    seconds = _PROBE_SECONDS_IF_USED if is_used else _PROBE_SECONDS
    problem = server_problem(spark.port, spark.token, seconds, is_used)
    if problem is None:
        return None
    return (
        f"The Spark that was kept alive ({_named(spark)}) does not run a task: "
        f"{error_text(problem).splitlines()[0]}"
    )


def _named(spark: KeptSpark) -> str:
    return f"process {spark.jvm.pid}"


def _start(
    folder: SparkFolder, lock: int, start: SparkStart, key: str, keep_alive: int
) -> KeptSpark:
    remove_unused(start.environment)
    reader, writer = os.pipe()
    request = {
        "path": str(folder.path),
        "parameters": {name: str(value) for name, value in start.profile.items()},
        "token": secrets.token_hex(32),
        "key": key,
        "keep_alive": keep_alive,
        "lock": lock,
        "answer": writer,
    }
    with open(reader, "rb") as answer, folder.keeper_log.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=kept_environment(start),
            # It holds the lock until Spark has started, even if this process is killed.
            pass_fds=(lock, writer),
            start_new_session=True,  # Ctrl-C in the terminal of this dbt is not for it.
        )
        _running.append(process)
        os.close(writer)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError), process.stdin as stream:
            stream.write(json.dumps(request).encode())
        remote_builder(NEEDED_BY)  # It imports the client's packages in the meantime.
        with announced("Spark is starting. The first time, its jars are downloaded before."):
            text = answer.read()
    answered = json.loads(text) if text else {}
    spark = folder.read() if "started" in answered else None
    if spark is None:
        process.wait()
        raise SparkDidNotStart(scrubbed(answered.get("error") or _log_text(folder)))
    return spark


def _log_text(folder: SparkFolder) -> str:
    lines = folder.keeper_log.read_text(encoding="utf-8", errors="replace").splitlines()
    last = next((line for line in reversed(lines) if line.strip()), "it wrote nothing")
    return f"Spark did not start: {last} (the rest is in {folder.keeper_log})"


def end(spark: KeptSpark, folder: SparkFolder, gently: bool) -> None:
    """End a kept Spark, in the block of the folder's ``locked``, or raise a DbtRuntimeError.

    Args:
        gently: whether to let it end by itself first.
    """
    folder.forget()
    both = (spark.keeper, spark.jvm)
    if gently:
        spark.keeper.send(signal.SIGTERM)
        if wait_until_ended(both, _SECONDS_TO_END):
            return
    for process in both:
        process.send(signal.SIGKILL)
    if not wait_until_ended(both, _SECONDS_TO_END):
        raise DbtRuntimeError(f"The Spark that was kept alive ({_named(spark)}) can't be ended")
