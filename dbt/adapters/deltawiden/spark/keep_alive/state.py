"""The folder of a kept Spark: its port and token, its log, and the locks of those who use it."""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dbt_common.exceptions import DbtConfigError, DbtRuntimeError

from dbt.adapters.deltawiden.spark.announce import announced
from dbt.adapters.deltawiden.spark.atomic_file import write_atomically
from dbt.adapters.deltawiden.spark.file_lock import (
    HAS_FILE_LOCKS,
    open_lock,
    share_lock,
    try_lock,
    wait_for_lock,
)
from dbt.adapters.deltawiden.spark.keep_alive.processes import Process
from dbt.adapters.deltawiden.spark.private_folder import (
    NotPrivate,
    cache_folder,
    cache_root,
    is_own_folder,
)

_ATTACH_SECONDS = 600
"""How long to wait for another dbt that starts Spark: its first start may download jars."""

_KEPT = "kept"
_SESSIONS = "sessions-"
_UNUSED_SECONDS = 7 * 24 * 60 * 60


@dataclass(frozen=True)
class KeptSpark:
    """A running Spark that is kept alive.

    Attributes:
        keeper: the process that ends it.
        port: the port of its Spark Connect server on 127.0.0.1.
        key: the key of the settings that it was started with.
        started: when, in seconds since the epoch.
        folder: the working folder of the dbt command that started it.
        folders: the identities of the folders that it works in, by path.
    """

    keeper: Process
    jvm: Process
    port: int
    token: str
    key: str
    started: float
    folder: str
    memory: str
    folders: Mapping[str, Sequence[int]] = field(default_factory=dict, compare=False)

    @property
    def has_its_folders(self) -> bool:
        """Whether it still has the folders that it started in: none was deleted or made again.

        Otherwise the JVM would go on with the deleted files of an embedded metastore.
        """
        return self.folders == identities(self.folders)

    @property
    def is_running(self) -> bool:
        """Whether both of its processes run."""
        return self.keeper.is_running and self.jvm.is_running


def identities(folders: Iterable[str]) -> dict[str, list[int]]:
    """Return the device and inode of each folder that exists. No other folder has these two."""
    found = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            status = os.stat(folder)
            found[folder] = [status.st_dev, status.st_ino]
    return found


@dataclass(frozen=True)
class SparkFolder:
    """The folder of one kept Spark. Its user alone can read it.

    Locks are in it. Whoever starts, attaches to or ends the Spark holds ``lock``. A dbt command
    that uses it holds ``used``, shared with others. From its first session on, a command also holds
    a file of its own, ``sessions-...``, which it deletes at its end. The system releases a lock
    when its process ends, however it ends: a file that nobody holds is that of a killed command.
    """

    path: Path

    @property
    def is_deleted(self) -> bool:
        """Whether it does not exist. A file system can also fail to answer for a while."""
        try:
            self.path.stat()
        except OSError as error:
            return isinstance(error, FileNotFoundError)
        return False

    @property
    def spark_log(self) -> Path:
        """The file with Spark's own output."""
        return self.path / "spark.log"

    @property
    def keeper_log(self) -> Path:
        """The file with the output of the process that ends Spark."""
        return self.path / "keeper.log"

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Raise an error of a file in the folder as a DbtRuntimeError that says what to do."""
        try:
            yield
        except OSError as error:
            raise DbtRuntimeError(
                f"keep_alive can't use its folder {self.path}: {error.strerror or error}. The user "
                "of dbt has to be able to write to each file in it, and its disk needs room: "
                "correct that, or set XDG_CACHE_HOME to another folder"
            ) from error

    def read(self) -> KeptSpark | None:
        """Return the Spark that was started last, or None if it has been ended.

        Raises:
            OSError: its file can't be read now.
        """
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            stored = dict(json.loads(self._state.read_text(encoding="utf-8")))
            keeper, jvm = Process(**stored.pop("keeper")), Process(**stored.pop("jvm"))
            return KeptSpark(keeper=keeper, jvm=jvm, **stored)
        return None

    def write(self, spark: KeptSpark) -> None:
        """Store a Spark that has started."""
        write_atomically(self._state, json.dumps(asdict(spark)), private=True)

    def forget(self) -> None:
        """Remove what ``write`` has stored, and what commands have left in the folder."""
        self._state.unlink(missing_ok=True)
        for prefix in (f".{self._state.name}.", _SESSIONS, tempfile.gettempprefix()):
            for file in self.path.glob(f"{prefix}*"):
                file.unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self, seconds: float = _ATTACH_SECONDS) -> Iterator[int]:
        """Hold the lock to start, attach to or end the Spark. Yield the lock's descriptor.

        A process that inherits the descriptor holds the lock, too.

        Raises:
            LockIsHeld: another process still held the lock after these seconds.
        """
        handle = open_lock(self.path / "lock")
        waiting = announced("Waiting for another dbt command that starts or ends Spark.")
        try:
            with waiting if seconds else contextlib.nullcontext():
                is_locked = wait_for_lock(handle, seconds)
            if not is_locked:
                raise LockIsHeld(
                    "Another process has been starting Spark for this profile for "
                    f"{seconds:.0f} seconds. Its log is {self.spark_log}"
                )
            yield handle
        finally:
            # No explicit unlock: it would also unlock it for a process that has inherited it.
            os.close(handle)

    def use(self, keep_alive: int) -> "Use":
        """Begin to use the Spark, inside ``locked``, and store how long it must live after that."""
        handle = open_lock(self.path / "used")
        share_lock(handle)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(keep_alive).encode(), 0)
        return Use(self.path, handle)

    @property
    def was_killed(self) -> bool:
        """Whether a command that had sessions was killed. Read it inside ``locked``.

        The Spark goes on with the command's last statement, as if the client could come back.
        """
        return any(map(_is_left, self.path.glob(f"{_SESSIONS}*")))

    @property
    def is_used(self) -> bool:
        """Whether a dbt command uses the Spark. Read it inside ``locked``."""
        handle = open_lock(self.path / "used")
        try:
            return not try_lock(handle)
        finally:
            os.close(handle)

    @property
    def last_use(self) -> tuple[float, int] | None:
        """When the Spark was last used, and how many seconds it must live after that."""
        with contextlib.suppress(OSError, ValueError):
            file = self.path / "used"
            return file.stat().st_mtime, int(file.read_text())
        return None

    def note_use(self) -> None:
        """Store that the Spark is used now."""
        os.utime(self.path / "used")

    @property
    def _state(self) -> Path:
        return self.path / "spark.json"


class LockIsHeld(DbtRuntimeError):
    """Another process starts, attaches to or ends the Spark, and takes too long."""


@dataclass
class Use:
    """The use of a Spark by this process."""

    _folder: Path
    _handle: int | None
    _sessions: tuple[Path, int] | None = None

    @property
    def has_sessions(self) -> bool:
        """Whether this process has sessions."""
        return self._sessions is not None

    def note_sessions(self, as_first: Callable[[], None]) -> None:
        """Store that this process has sessions now, so that others notice if it is killed.

        Args:
            as_first: is called first if no other process has sessions.
        """
        folder = SparkFolder(self._folder)
        with folder.explained(), folder.locked():
            if not any(self._folder.glob(f"{_SESSIONS}*")):
                as_first()
            handle, name = tempfile.mkstemp(dir=self._folder)
            try_lock(handle)
            # Others only see it with its lock.
            file = Path(name).with_name(f"{_SESSIONS}{Path(name).name}")
            os.replace(name, file)
            self._sessions = file, handle

    def end(self) -> None:
        """End the use. All of its sessions have ended."""
        sessions, self._sessions = self._sessions, None
        if sessions is not None:
            sessions[0].unlink(missing_ok=True)
            os.close(sessions[1])
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


def spark_folder(place: str, environment: Mapping[str, str]) -> SparkFolder:
    """Return the folder for a Spark, and make it if it does not exist.

    Args:
        place: the text that only one Spark at a time has.

    Raises:
        DbtConfigError: the folder can't be the user's alone, or the system has no file locks.
    """
    if not HAS_FILE_LOCKS:
        raise DbtConfigError("keep_alive needs Linux or macOS: remove it from the profile")
    try:
        path = cache_folder(environment, _KEPT, hashlib.sha256(place.encode()).hexdigest()[:16])
    except NotPrivate as error:
        raise DbtConfigError(f"keep_alive needs {error}") from error
    except OSError as error:
        raise DbtConfigError(
            "keep_alive needs a folder for its port, its token and its logs, and "
            f"{cache_root(environment) / _KEPT} can't be made: {error.strerror}. Set "
            "XDG_CACHE_HOME to a folder that dbt may write to"
        ) from error
    # From now on, no other process removes it.
    os.utime(path)
    return SparkFolder(path)


def spark_folders(environment: Mapping[str, str]) -> list[SparkFolder]:
    """Return the folders of all kept Sparks of the user."""
    root = cache_root(environment) / _KEPT
    # What another user has made can name any process of this user.
    paths = sorted(root.iterdir()) if is_own_folder(root) else []
    return [SparkFolder(path) for path in paths if is_own_folder(path)]


def remove_unused(environment: Mapping[str, str]) -> None:
    """Remove the folders of Sparks that nobody has used for a week."""
    for folder in spark_folders(environment):
        with contextlib.suppress(OSError, LockIsHeld):
            if _is_unused(folder):
                with folder.locked(seconds=0):
                    if _is_unused(folder):
                        shutil.rmtree(folder.path)


def _is_unused(folder: SparkFolder) -> bool:
    changed = max(file.stat().st_mtime for file in (folder.path, *folder.path.iterdir()))
    spark = folder.read()
    is_running = spark is not None and spark.is_running
    return not is_running and time.time() - changed > _UNUSED_SECONDS


def _is_left(file: Path) -> bool:
    """Return whether a file exists, and nobody holds its lock."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # A process that ends its use deletes the file before it releases the lock.
        return try_lock(handle) and file.exists()
    finally:
        os.close(handle)
