"""The machine, and the versions of what is measured on it."""

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
    """What results have to have in common to stand on one page.

    Attributes:
        machine: processor, cores, memory and operating system.
        versions: by program.
    """

    machine: dict[str, str]
    versions: dict[str, str]

    def differences(self, other: "Environment") -> list[str]:
        """Say in what another environment differs, a line each."""
        ours, others = ({**each.machine, **each.versions} for each in (self, other))
        return [
            f"{key}: {ours.get(key, 'none')}, not {others.get(key, 'none')}"
            for key in sorted(ours.keys() | others.keys())
            if ours.get(key) != others.get(key)
        ]


def this_environment() -> Environment:
    """Find out what this machine is and which versions it has."""
    languages = {"Python": platform.python_version(), "Java": java_version()}
    packages = {name: version(package) for name, package in PACKAGES.items()}
    return Environment(machine(), {**languages, **packages})


def machine() -> dict[str, str]:
    """Describe the machine, for people."""
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
    """FetchRows the Java that Spark uses for its version."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    match = re.search(r'version "([^"]+)"', told)
    return match.group(1) if match else "unknown"


def commit() -> str:
    """Name the last commit that changed the adapter, and say whether it has been changed since."""
    last = _git("log", "-1", "--format=%h", "--abbrev=10", "--", "dbt")
    return f"{last} with changes" if _git("status", "--porcelain", "--", "dbt") else last


def _git(*arguments: str) -> str:
    ended = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return ended.stdout.strip()
