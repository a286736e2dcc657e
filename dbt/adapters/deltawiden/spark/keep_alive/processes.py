"""Identify, measure and end processes of this machine."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A process that can be found again.

    Attributes:
        pid: its id. The system gives it to another process after this one has ended.
        identity: what only this process has with that id: when it was started.
    """

    pid: int
    identity: str

    @classmethod
    def find(cls, pid: int) -> "Process":
        """Return the process that has an id now."""
        return cls(pid, _identity(pid) or "")

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return bool(self.identity) and _identity(self.pid) == self.identity

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.is_running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    @property
    def resident_bytes(self) -> int | None:
        """The memory that it occupies, or None if that can't be read."""
        with contextlib.suppress(OSError, ValueError):
            return int(_ps(self.pid, "rss=")) * 1024
        return None


def wait_until_ended(processes: Iterable[Process], seconds: float) -> bool:
    """Wait for processes to end, and return whether they all have."""
    waited_for = list(processes)
    end = time.monotonic() + seconds
    while any(process.is_running for process in waited_for):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _identity(pid: int) -> str | None:
    """Return the time at which a process was started, or None if it has ended."""
    try:
        if (_PROC / "self" / "stat").exists():
            boot = (_PROC / "sys" / "kernel" / "random" / "boot_id").read_text().strip()
            # The name of the program, in brackets, can have spaces and brackets.
            fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
            # https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: state, starttime
            return None if fields[0] in "ZX" else f"{boot} {fields[19]}"
        state, _, started = _ps(pid, "state=,lstart=").partition(" ")
        return None if not state or state[0] == "Z" else started.strip()
    except (OSError, IndexError):
        return None


def _ps(pid: int, columns: str) -> str:
    command = ["ps", "-o", columns, "-p", str(pid)]
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    shown = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return shown.stdout.strip()
