"""Describe the machine, and the versions of the programs that are measured on it."""

import os
import platform
import re
import subprocess
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.processes import ROOT

PACKAGES = {
    "Spark": "pyspark",
    "Delta": "delta-spark",
    "dbt-core": "dbt-core",
    "dbt-spark": "dbt-spark",
    "dbt-deltawiden": "dbt-deltawiden",
}


@dataclass(frozen=True)
class Environment:
    """The machine and the versions of a measurement.

    Attributes:
        machine: processor, cores, memory and operating system.
        versions: the versions by program.
    """

    machine: dict[str, str]
    versions: dict[str, str]


def this_environment() -> Environment:
    """Return the environment of this process."""
    languages = {"Python": platform.python_version(), "Java": java_version()}
    packages = {name: version(package) for name, package in PACKAGES.items()}
    return Environment(machine(), {**languages, **packages})


def machine() -> dict[str, str]:
    """Describe this machine, as texts for people."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": _system(),
    }


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    text = file.read_text() if file.exists() else ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match.group(1) if match else platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # not Linux
        return platform.platform(terse=True)


def java_version() -> str:
    """Return the version of the Java that Spark uses."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    match = re.search(r'version "([^"]+)"', output)
    return match.group(1) if match else "unknown"


def commit() -> str:
    """Return the last commit that changed the adapter, and whether it has uncommitted changes."""
    last = _git("log", "-1", "--format=%h", "--abbrev=10", "--", "dbt")
    return f"{last} with changes" if _git("status", "--porcelain", "--", "dbt") else last


def _git(*arguments: str) -> str:
    ended = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return ended.stdout.strip()
