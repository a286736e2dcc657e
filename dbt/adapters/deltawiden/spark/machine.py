"""Measure the memory and the cores that this process may use: a container has less than its host.

Source:
    https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.max, cpu.max),
    https://docs.kernel.org/admin-guide/cgroup-v1/memory.html and
    https://docs.kernel.org/scheduler/sched-bwc.html
"""

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")
_GROUPS = "sys/fs/cgroup"


def memory_bytes(root: Path = _ROOT) -> int | None:
    """Return the memory that this process may use, or None if the system does not say."""
    limits = [int(text) for text in _limits(root, "memory.max") if text != "max"]
    limits += map(int, _limits(root, "memory.limit_in_bytes", "memory"))
    with contextlib.suppress(ValueError, OSError, AttributeError):  # not on every platform
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(limits, default=None)


def cores(root: Path = _ROOT) -> int:
    """Return the number of cores that this process may use, at least 1."""
    quotas = [text.split() for text in _limits(root, "cpu.max")]
    quota_file, period_file = "cpu.cfs_quota_us", "cpu.cfs_period_us"
    old = (_limits(root, name, "cpu") for name in (quota_file, period_file))
    quotas += map(list, zip(*old, strict=False))
    # Without a limit, the quota is `max` or -1. Java rounds up, too.
    limits = [math.ceil(int(q) / int(period)) for q, period in quotas if q not in ("max", "-1")]
    return max(1, min([*limits, _usable_cores()]))


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _limits(root: Path, name: str, controller: str = "") -> Iterator[str]:
    """Yield a limit of this process's control group, and those of the groups that contain it.

    Args:
        controller: the controller in version 1, or an empty text for version 2.
    """
    top = root / _GROUPS / controller
    for line in _text(root / "proc" / "self" / "cgroup").splitlines():
        # A line is `number:controllers:path`. In version 2 there are no controllers.
        _, controllers, path = line.split(":", maxsplit=2)
        if controller in controllers.split(","):
            # In a container, the path can be one of the host, of which only the top exists here.
            group = top / path.strip("/")
            for folder in (group, *group.parents):
                if folder.is_relative_to(top) and (text := _text(folder / name)):
                    yield text


def _text(file: Path) -> str:
    with contextlib.suppress(OSError):
        return file.read_text().strip()
    return ""
