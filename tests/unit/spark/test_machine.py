"""The memory and the cores that a process may use, in a container and outside of one."""

import os
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.spark.machine import cores, memory_bytes

GROUP = "sys/fs/cgroup"
MB = 2**20


def system(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    return root


def test_outside_of_a_container_the_whole_machine_is_used(tmp_path: Path):
    unlimited = {
        "proc/self/cgroup": "0::/user.slice",
        f"{GROUP}/user.slice/memory.max": "max",
        f"{GROUP}/user.slice/cpu.max": "max 100000",
    }
    for root in (tmp_path / "no files", system(tmp_path, unlimited)):
        assert memory_bytes(root) == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        assert cores(root) == len(os.sched_getaffinity(0))


LIMITED = {
    "the container's own group": {
        "proc/self/cgroup": "0::/",
        f"{GROUP}/memory.max": str(600 * MB),
        f"{GROUP}/cpu.max": "50000 100000",
    },
    "a group and those around it": {
        "proc/self/cgroup": "0::/pods/one/task",
        f"{GROUP}/pods/memory.max": str(600 * MB),
        f"{GROUP}/pods/one/memory.max": str(700 * MB),
        f"{GROUP}/pods/one/task/memory.max": "max",
        f"{GROUP}/pods/cpu.max": "max 100000",
        f"{GROUP}/pods/one/task/cpu.max": "100000 100000",
        f"{GROUP}/other/memory.max": "1",
    },
    "version 1": {
        "proc/self/cgroup": "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n1:name=systemd:/x:y",
        f"{GROUP}/memory/docker/abc/memory.limit_in_bytes": str(600 * MB),
        f"{GROUP}/memory/memory.limit_in_bytes": "9223372036854771712",
        f"{GROUP}/cpu/docker/abc/cpu.cfs_quota_us": "99999",
        f"{GROUP}/cpu/docker/abc/cpu.cfs_period_us": "100000",
        f"{GROUP}/cpu/cpu.cfs_quota_us": "-1",
        f"{GROUP}/cpu/cpu.cfs_period_us": "100000",
    },
    "a path of the host": {
        "proc/self/cgroup": "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc",
        f"{GROUP}/memory/memory.limit_in_bytes": str(600 * MB),
        f"{GROUP}/cpu/cpu.cfs_quota_us": "100000",
        f"{GROUP}/cpu/cpu.cfs_period_us": "100000",
    },
}


@pytest.mark.parametrize("files", LIMITED.values(), ids=LIMITED)
def test_the_smallest_limit_of_a_control_group_counts(tmp_path: Path, files: dict[str, str]):
    root = system(tmp_path, files)
    assert memory_bytes(root) == 600 * MB
    assert cores(root) == 1


def test_a_part_of_a_core_is_rounded_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(8))
    files = {"proc/self/cgroup": "0::/", f"{GROUP}/cpu.max": "210000 100000"}
    assert cores(system(tmp_path, files)) == 3
