"""The Spark that this process has started or attached to, and what is said when it has ended."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_LOST = re.compile(
    "Connection (refused|reset)|Broken pipe|Stream removed|UNAVAILABLE|Socket closed"
    "|trying to connect to the Java server|while sending or receiving"
    "|RETRIES_EXCEEDED|Answer from Java side is empty|obtaining a new communication channel",
    re.IGNORECASE,
)
"""What PySpark's clients say if the process that they talk to has ended."""
_SECONDS_TO_END = 3  # The system closes the ports of a process before it says that it has ended.
_WITHOUT_MEMORY = "java.lang.OutOfMemoryError"
_LAST_BYTES = 2**16


@dataclass(frozen=True)
class RunningSpark:
    """A Spark on this machine."""

    pid: int
    log: Path
    has_ended: Callable[[], bool]


_current: RunningSpark | None = None


def note_running(spark: RunningSpark) -> None:
    """Store which Spark this process uses from now on."""
    global _current
    _current = spark


def end_text(error: BaseException | str) -> str | None:
    """Return the text for an error that comes from the end of the Spark that this process uses.

    None if that Spark still runs or is on another machine, or if the error is not of this kind.
    """
    spark = _current
    if spark is None or not (isinstance(error, ConnectionError) or _LOST.search(str(error))):
        return None
    end = time.monotonic() + _SECONDS_TO_END
    while not spark.has_ended():
        if time.monotonic() > end:
            return None
        time.sleep(0.05)
    return (
        f"Spark (process {spark.pid}) has ended. {_reason(spark.log)}Its log is {spark.log}. The "
        "last statement may have been committed or not. The next run starts another Spark."
    )


def _reason(log: Path) -> str:
    try:
        with log.open("rb") as stream:
            stream.seek(max(stream.seek(0, 2) - _LAST_BYTES, 0))
            last = stream.read().decode(errors="replace")
    except OSError:
        return ""
    if _WITHOUT_MEMORY not in last:
        return ""
    return (
        "It had too little memory: set spark.driver.memory in the profile's server_side_parameters "
        "to more. "
    )
