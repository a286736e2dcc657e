"""Find the Java that Spark would use, and the options that the user gives to it."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.deltawiden.spark.errors import java_major

OPTION_VARIABLES = ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
OPTION_SETTINGS = ("spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions")
# The first Java with archives that need no list of classes: https://openjdk.org/jeps/350
_FIRST_WITH_DYNAMIC_ARCHIVE = 13

# Before C2 compiles a method, C1 has it run ten times as often as by default. C2 takes most of the
# time of a short run, and earns it back only in a long one, whose loops reach these numbers soon.
# C1's code with counters is large. If the code cache were full, the JVM would stop compiling.
_LIGHTER_COMPILATION = (
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
    "-XX:ReservedCodeCacheSize=384m",
)
_ABOUT_COMPILATION = re.compile(r"-X(int|comp|mixed)\b|-XX:\S*(Tier|Compil|CodeCache|JVMCI)")
# G1, the default, takes about a seventh more CPU for small statements: it does more for each
# reference that the code writes, and it starts to look for garbage in the whole heap whenever Spark
# allocates a page. The ratio limits collection to 5 % of the time. With its default of 1 %, the
# parallel collector would take twice the memory of G1.
_PARALLEL_COLLECTION = ("-XX:+UseParallelGC", "-XX:GCTimeRatio=19")
_ABOUT_COLLECTION = re.compile(r"-XX:\S*(GC|G1|Shenandoah)")


@dataclass(frozen=True)
class Java:
    """An installed Java.

    Attributes:
        home: its folder, without symbolic links.
        release: the text of its file ``release``: the version, the vendor and the modules.
    """

    home: Path
    release: str

    @property
    def major(self) -> int | None:
        """The major version, or None if the file does not have it."""
        match = re.search(r'^JAVA_VERSION="([^"]+)"', self.release, re.MULTILINE)
        return java_major(match.group(1)) if match else None

    @property
    def has_dynamic_archive(self) -> bool:
        """Whether this Java can write its classes to an archive when it exits."""
        is_other = re.search(r'^JVM_VARIANT="(?!hotspot)', self.release, re.MULTILINE | re.I)
        return not is_other and (self.major or 0) >= _FIRST_WITH_DYNAMIC_ARCHIVE


def find_java(environment: Mapping[str, str]) -> Java | None:
    """Return the Java that Spark would use. None if there is none, or if its version is unknown."""
    command = _java_command(environment)
    if command is None:
        return None
    home = Path(os.path.realpath(command)).parents[1]
    try:
        return Java(home, (home / "release").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def java_version(environment: Mapping[str, str]) -> str | None:
    """Return the version that Java prints, or None if there is no Java."""
    java = _java_command(environment)
    if java is None:
        return None
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "([^"]+)"', printed.stderr + printed.stdout)
    return match.group(1) if match else "unknown"


def given_java_options(given: Mapping[str, str], environment: Mapping[str, str]) -> list[str]:
    """Return the options that the user gives to the driver's JVM, in no particular order."""
    texts = [environment.get(name, "") for name in OPTION_VARIABLES]
    texts += [given.get(key, "") for key in OPTION_SETTINGS]
    return " ".join(texts).split()


def default_options(java: Java | None, given: list[str]) -> tuple[str, ...]:
    """Return options with which a short run spends less time on compiling and on memory.

    None for an old Java, and none about compilation or garbage collection if the user has options
    about it.
    """
    if java is None or not java.has_dynamic_archive:
        return ()
    compilation = () if any(map(_ABOUT_COMPILATION.match, given)) else _LIGHTER_COMPILATION
    collection = () if any(map(_ABOUT_COLLECTION.match, given)) else _PARALLEL_COLLECTION
    return (*compilation, *collection)


def _java_command(environment: Mapping[str, str]) -> str | None:
    home = environment.get("JAVA_HOME")
    command = os.path.join(home, "bin", "java") if home else shutil.which("java")
    return command if command and os.path.exists(command) else None
