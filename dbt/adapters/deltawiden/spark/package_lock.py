"""Let one process at a time resolve Spark's packages.

Ivy resolves them, and stores the jars in the user's cache, which it does not lock by default.
If two processes download the same jar at the same time, neither Spark starts:
https://ant.apache.org/ivy/history/2.5.2/settings/lock-strategies.html (no-lock)
"""

import contextlib
import os
from collections.abc import Iterator, Mapping

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.deltawiden.spark.file_lock import (
    HAS_FILE_LOCKS,
    open_lock,
    try_lock,
    wait_for_lock,
)
from dbt.adapters.deltawiden.spark.jar_cache import cache_folder

logger = AdapterLogger("DeltaWiden")

_MOST_SECONDS = 600
"""How long to wait for another process, which may download all jars over a slow connection."""


@contextlib.contextmanager
def alone_resolving(environment: Mapping[str, str]) -> Iterator[None]:
    """Wait until no other process of the user resolves packages, and hold them off in the block.

    If that is impossible, because there are no file locks or no folder for them, or if another
    process takes longer than ten minutes, the block runs all the same.
    """
    handle = None
    try:
        handle = _open(environment)
        _wait(handle)
    except OSError as error:
        logger.debug(f"Spark's packages are resolved without a lock: {error}")
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _wait(handle: int) -> None:
    if try_lock(handle):
        return
    logger.info("Waiting for another process that resolves Spark's packages")
    if not wait_for_lock(handle, _MOST_SECONDS):
        logger.debug(f"The other process has held the lock for {_MOST_SECONDS} seconds")


def _open(environment: Mapping[str, str]) -> int:
    if not HAS_FILE_LOCKS:
        raise OSError("This system has no file locks")
    folder = cache_folder(environment)
    folder.mkdir(parents=True, exist_ok=True)
    return open_lock(folder / "packages.lock")
