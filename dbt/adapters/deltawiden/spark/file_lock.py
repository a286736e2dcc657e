"""Locks on files. The system releases a lock when its process ends, however it ends."""

import os
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HAS_FILE_LOCKS = fcntl is not None
"""Whether the system has these locks. Without them, ``try_lock_if_supported`` alone works."""

_SECONDS_BETWEEN_ATTEMPTS = 0.05


def open_lock(file: Path) -> int:
    """Open a file to lock it, and make it if it does not exist. Its user alone can read it.

    Closing its descriptor releases the lock, unless a process has inherited it.
    """
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_lock(handle: int) -> bool:
    """Lock a file, unless another process has locked it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def try_lock_if_supported(handle: int) -> bool:
    """Lock a file as ``try_lock`` does. A file that can't be locked counts as locked."""
    try:
        return not HAS_FILE_LOCKS or try_lock(handle)
    except OSError:  # The file system has no locks.
        return True


def wait_for_lock(handle: int, seconds: float) -> bool:
    """Lock a file as soon as no other process holds the lock."""
    end = time.monotonic() + seconds
    while not try_lock(handle):
        if time.monotonic() >= end:
            return False
        time.sleep(_SECONDS_BETWEEN_ATTEMPTS)
    return True


def share_lock(handle: int) -> None:
    """Lock a file together with others that share its lock. A lock that it has alone is shared."""
    fcntl.flock(handle, fcntl.LOCK_SH)
