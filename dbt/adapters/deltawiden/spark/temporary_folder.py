"""The folder for the temporary files of a Spark on this machine, which no other user can open.

Rows are in these files: those of each MERGE, of shuffles and of uploads. Spark, Hive and Hadoop
make most of their folders as the umask says.
"""

import contextlib
import hashlib
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.deltawiden.spark.file_lock import HAS_FILE_LOCKS, try_lock, try_lock_if_supported
from dbt.adapters.deltawiden.spark.private_folder import is_own_folder

_OPTION = "-Djava.io.tmpdir="
_OF_JAVA = "/tmp"  # On Linux. Unlike Python, Java reads no TMPDIR.


@dataclass(frozen=True)
class TemporaryFolder:
    """The folder of one Spark.

    Attributes:
        lock: the descriptor of its lock, which the JVM inherits. If nobody holds it, the JVM has
            ended. systemd-tmpfiles, too, keeps a folder that is locked.
    """

    path: str
    lock: int

    @property
    def java_option(self) -> str:
        """The option with which all temporary files of the JVM are in it."""
        return f"{_OPTION}{self.path}"


@contextlib.contextmanager
def temporary_folder(java_options: Sequence[str]) -> Iterator[TemporaryFolder | None]:
    """Yield a new folder, and remove those of JVMs that were killed. The JVM removes its own.

    None on Windows, where each user has a folder for temporary files.

    Args:
        java_options: the user's options. If they name a folder for temporary files that can't be
            found, its name has blanks, and the result is None.
    """
    root = _root(java_options) if HAS_FILE_LOCKS else ""
    if not os.path.isdir(root):
        yield None
        return
    _remove_left(Path(root))
    folder = _make(root)
    try:
        yield folder
    finally:
        os.close(folder.lock)


def _root(java_options: Sequence[str]) -> str:
    """Return the folder in which Java has its temporary files, or else the one of Python.

    TMPDIR can be a folder of one command, and a Spark that is kept alive has a longer life.
    """
    named = [option.removeprefix(_OPTION) for option in java_options if option.startswith(_OPTION)]
    if named:
        return named[-1]
    return _OF_JAVA if os.access(_OF_JAVA, os.W_OK | os.X_OK) else tempfile.gettempdir()


def _prefix() -> str:
    """Return how the names of this machine's folders begin: a lock can be one machine's alone."""
    # The name of a Mac changes with the network.
    name = "" if platform.system() == "Darwin" else platform.node()
    return f"dbt-deltawiden-spark-{hashlib.sha256(name.encode()).hexdigest()[:8]}-"


def _make(root: str) -> TemporaryFolder:
    while True:
        path = tempfile.mkdtemp(prefix=_prefix(), dir=root)  # Its mode is 0700.
        # Another process that starts may take the new folder for one that was left, and remove it.
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            if try_lock_if_supported(lock) and os.path.isdir(path):
                return TemporaryFolder(path, lock)
            os.close(lock)


def _remove_left(root: Path) -> None:
    for folder in filter(is_own_folder, root.glob(f"{_prefix()}*")):
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                if try_lock(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
