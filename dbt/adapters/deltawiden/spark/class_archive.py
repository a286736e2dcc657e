"""Start the JVM with an archive of the classes of Spark and Delta (class data sharing).

Without it, each start reads, parses and verifies some 25,000 classes again. The archive is made
once, by a process that runs in the background after a dbt command (``class_archive_training``). The
JVM compares the archive with its own version and with the jars on its class path, and does not use
one that does not match: https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html
"""

import atexit
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import pyspark

from dbt.adapters.deltawiden.__version__ import version
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.jar_cache import jar_path, without_other_versions
from dbt.adapters.deltawiden.spark.machine import memory_bytes
from dbt.adapters.deltawiden.spark.private_folder import cache_folder
from dbt.adapters.deltawiden.spark.settings import bundled_jars_dir
from dbt.adapters.deltawiden.spark.start import SparkStart

CLASS_PATH = "spark.driver.extraClassPath"
MEMORY = "spark.driver.memory"

_KEPT = 2
_NEEDED_BYTES = 2**30
# In Java 17, the tables for an archive of 36,000 classes take 800 MB beside the classes themselves.
_NEEDED_MEMORY = 4 * 2**30
_SECONDS_UNTIL_NEXT_TRY = 24 * 60 * 60
_MAX_SECONDS = 600
"""How long a process may make an archive."""

# With one of these options, the user decides about archives, or classes are changed as they load.
_ABOUT_ARCHIVES = re.compile(
    r"-Xshare\b|-XX:\S*(Archive|Shared|LoadedClass)|-agent|-javaagent"
    r"|--(patch-module|limit-modules|upgrade-module-path)"
)
# An archive only fits a JVM that has the same values of these options.
_DECISIVE = re.compile(r"-XX:\S*(Compressed|Compact|Alignment|GC$|JVMCI)")
_LARGE_GIGABYTES = 32
# Hadoop and Hive read these files from the class path.
_CONFIGURATION = re.compile(r"[\w-]+-site\.xml|hive-default\.xml")
_UNITS = {"": 2**-10, "k": 2**-20, "m": 2**-10, "g": 1, "t": 2**10}


@dataclass(frozen=True)
class ClassArchive:
    """The archive for one Java, one class path and one set of options.

    Attributes:
        file: the file of the archive. It may not exist yet.
        class_path: the entries of the class path whose classes are in the archive.
        options: the options of the JVM that the archive depends on.
        memory: the memory of the JVM that makes it. It reserves as much, but uses little of it.
    """

    file: str
    class_path: str
    options: tuple[str, ...]
    memory: str

    @property
    def settings(self) -> dict[str, str]:
        """The settings of Spark with which the JVM has the archive's class path.

        The JVM only takes classes of its class path from an archive, not those of ``spark.jars``,
        and only if no folder with files is before them. Spark itself puts its configuration first.
        """
        return {CLASS_PATH: self.class_path}

    @property
    def use_options(self) -> tuple[str, ...]:
        """The options with which the JVM uses the archive if it fits and is not damaged."""
        return (f"-XX:SharedArchiveFile={self.file}", "-Xshare:auto", "-XX:+VerifySharedSpaces")

    def mark_used(self) -> None:
        """Record that the archive is used. Those that were used last are kept."""
        with contextlib.suppress(OSError):
            os.utime(self._stamp)

    def exists(self) -> bool:
        """Return whether there is an archive, and it is as it was made."""
        made = self._read_stamp()
        return made is not None and made == _size_and_time(Path(self.file))

    def has_failed(self) -> bool:
        """Return whether an archive could not be made on the last day."""
        # A clock that was set back gives the stamp a time in the future.
        is_recent = abs(time.time() - _time(self._stamp)) < _SECONDS_UNTIL_NEXT_TRY
        return is_recent and "failed" in (self._read_stamp() or {})

    def write_stamp(self, failed: str | None = None) -> None:
        """Record that the archive was made, or why it could not be made."""
        stamp = _size_and_time(Path(self.file)) if failed is None else {"failed": failed}
        self._stamp.write_text(json.dumps(stamp), encoding="utf-8")

    def forget(self) -> None:
        """Delete the archive."""
        for file in (self._stamp, Path(self.file)):
            with contextlib.suppress(OSError):
                file.unlink()

    def give_up(self, reason: str) -> None:
        """Delete the archive, and do not make it again for a day."""
        self.forget()
        with contextlib.suppress(OSError):
            self.write_stamp(failed=reason)

    def make_at_exit(self) -> None:
        """Make the archive in the background when this process ends, unless it exists."""
        if self._is_missing():
            logger.info(
                "When this command has ended, a process in the background makes an archive of "
                "Spark's classes, once: the next commands then start faster."
            )
            atexit.register(self._start_making)

    def make_in_background(self) -> None:
        """Make the archive in the background now, unless it exists."""
        if self._is_missing():
            self._start_making()

    def _is_missing(self) -> bool:
        # A build server ends or throws away what a job leaves running.
        is_wanted = not (os.environ.get("CI") or self.exists() or self.has_failed())
        has_memory = (memory_bytes() or 0) >= _NEEDED_MEMORY
        return is_wanted and has_memory and _has_room(Path(self.file).parent)

    def _start_making(self) -> None:
        module = "dbt.adapters.deltawiden.spark.class_archive_training"
        with contextlib.suppress(OSError, RuntimeError):
            subprocess.Popen(
                [sys.executable, "-m", module, json.dumps(asdict(self)), str(_MAX_SECONDS)],
                # Python finds modules in the working directory too: not the user's own.
                cwd=Path(self.file).parent,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # A signal to the terminal's processes does not end it.
                start_new_session=True,
            )

    @property
    def _stamp(self) -> Path:
        return Path(self.file).with_suffix(".json")

    def _read_stamp(self) -> dict[str, object] | None:
        with contextlib.suppress(OSError, ValueError):
            stamp = json.loads(self._stamp.read_text(encoding="utf-8"))
            return stamp if isinstance(stamp, dict) else None
        return None


def find_archive(start: SparkStart) -> ClassArchive | None:
    """Return the archive for a start of Spark on one machine.

    Returns:
        The archive, whether or not it has been made. None on a cluster, if it is not known which
        jars Spark will have, if this Java can't have an archive, if the user's options are about
        archives, or if the user's class path has more than jars of classes: a folder can change,
        and the process that makes the archive must not read the configuration of the user's
        metastore.
    """
    java, environment = start.java.java, start.environment
    if java is None or not java.has_dynamic_archive or os.name != "posix":
        return None
    given = start.given
    if start.resolves_packages or start.has_own_jars:
        return None
    # An archive depends on the garbage collector.
    options = (*start.java.given, *start.java.defaults)
    if any(map(_ABOUT_ARCHIVES.match, options)):
        return None
    settings, given_class_path = start.every, given.get(CLASS_PATH, "")
    given_jars = [*filter(None, given_class_path.split(os.pathsep))]
    if not all(map(_is_jar_of_classes, given_jars)):
        return None
    own = bundled_jars_dir(environment)
    uris = filter(None, settings.get("spark.jars", "").split(","))
    # Two versions of one library on a class path would mix their plug-ins.
    jars = [str(jar_path(uri)) for uri in without_other_versions(uris, own)]
    if any(os.pathsep in path for path in (*jars, str(own))):
        return None
    # As before, the user's own jars are first, and Delta's are after Spark's.
    entries = [*given_jars, f"{own}/*", *jars]
    decisive = tuple(sorted(option for option in options if _DECISIVE.match(option)))
    # From 32 GB on, references have another size. An archive only fits a JVM with the same size.
    memory = "32g" if _is_large(settings.get(MEMORY, "1g")) else "256m"
    content = {
        "java": [str(java.home), java.release, _stamps([java.home / "lib" / "modules"])],
        "versions": [version, pyspark.__version__],
        "class path": entries,
        "files": _stamps([*map(Path, given_jars), *sorted(own.glob("*.jar")), *map(Path, jars)]),
        "options": [*decisive, memory],
    }
    key = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
    try:
        # The classes in an archive run as the user.
        file = os.path.abspath(cache_folder(environment, "classes") / f"{key}.jsa")
    except OSError as error:
        logger.debug(f"There is no archive of Spark's classes: {error}")
        return None
    return ClassArchive(file, os.pathsep.join(entries), decisive, memory)


def remove_old_archives(folder: Path) -> None:
    """Delete the archives of a folder, except those that were used last."""
    stamps = sorted(folder.glob("*.json"), key=_time, reverse=True)
    for stamp in stamps[_KEPT:]:
        for file in (stamp, stamp.with_suffix(".jsa")):
            with contextlib.suppress(OSError):
                file.unlink()


def _has_room(folder: Path) -> bool:
    """Return whether an archive can be written to a folder, which is created if necessary."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > _NEEDED_BYTES
    except OSError as error:
        logger.debug(f"There is no archive of Spark's classes in {folder}: {error}")
        return False


def _is_large(memory: str) -> bool:
    """Return whether the JVM can have a heap that is too large for compressed references."""
    match = re.fullmatch(r"(\d+)([kmgt]?)b?", memory.strip().lower())
    return match is not None and int(match[1]) * _UNITS[match[2]] >= _LARGE_GIGABYTES


def _is_jar_of_classes(entry: str) -> bool:
    """Return whether an entry of a class path is a jar without configuration (hive-site.xml).

    Java also takes a folder, and `folder/*` for all jars of a folder.
    """
    try:
        with ZipFile(entry) as jar:
            return not any(_CONFIGURATION.fullmatch(name) for name in jar.namelist())
    except (OSError, BadZipFile):
        return False


def _stamps(files: Sequence[Path]) -> list[list[object]]:
    return [[str(file), *(_size_and_time(file) or {}).values()] for file in files]


def _size_and_time(file: Path) -> dict[str, object] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return {"size": found.st_size, "time": found.st_mtime_ns}


def _time(file: Path) -> float:
    with contextlib.suppress(OSError):
        return file.stat().st_mtime
    return 0.0
