"""Cache the jars of Spark's packages, and let one process at a time resolve them.

At every start, Ivy takes seconds to resolve the same files again, and Spark then copies each of
them twice. Delta's package even depends on jars of Hadoop and Parquet, which Spark contains itself.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.atomic_file import write_atomically
from dbt.adapters.deltawiden.spark.file_lock import (
    HAS_FILE_LOCKS,
    open_lock,
    try_lock,
    wait_for_lock,
)
from dbt.adapters.deltawiden.spark.private_folder import cache_folder


class JarCache:
    """The jars that Ivy resolved for ``spark.jars.packages``, stored in the user's cache folder."""

    def __init__(self, packages: str, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._name = f"{quote(packages, safe='')}.json"

    def read(self) -> list[str]:
        """Return the URIs of the jars, or an empty list if one of the files has changed."""
        with contextlib.suppress(OSError, ValueError):
            sizes = json.loads(self._file.read_text(encoding="utf-8"))
            if isinstance(sizes, dict) and sizes == _sizes(sizes):
                return list(sizes)
        return []

    def write(self, jars: Iterable[str]) -> None:
        """Store the URIs of the jars that Ivy resolved, if that is possible."""
        try:
            text = json.dumps(_sizes(jars), indent=1)
            write_atomically(self._file, text)
        except (OSError, ValueError) as error:
            logger.debug(f"The jars that Spark has found are not kept: {error}")

    def forget(self) -> None:
        """Delete the stored jars, so that the next start resolves them again."""
        with contextlib.suppress(OSError):
            self._file.unlink()

    @property
    def _file(self) -> Path:
        # The jars that it names run as the user.
        return cache_folder(self._environment) / self._name


def without_bundled(jars: Iterable[str], own: Path) -> list[str]:
    """Return the jars that Spark does not contain itself.

    Of two classes of the same name, Spark loads its own, so a second copy of a file is never read.

    Args:
        jars: URIs of jars. Spark names the files organization_artifact-version.jar.
    """
    names = set(os.listdir(own)) if own.is_dir() else set()
    return [jar for jar in jars if jar_path(jar).name.partition("_")[2] not in names]


def without_other_versions(jars: Iterable[str], own: Path) -> list[str]:
    """Return the jars of which Spark contains no version."""
    artifacts = {_artifact(file.name) for file in own.glob("*.jar")}
    return [jar for jar in jars if _artifact(jar_path(jar).name.partition("_")[2]) not in artifacts]


def _artifact(file_name: str) -> str:
    """Return the part of a jar's name before the version."""
    return re.split(r"-\d", file_name, maxsplit=1)[0]


def _sizes(jars: Iterable[str]) -> dict[str, int]:
    return {jar: jar_path(jar).stat().st_size for jar in jars}


def jar_path(uri: str) -> Path:
    """Return the path of a jar by its URI. A ValueError says that it is not on this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise ValueError(f"{uri} is not a file of this machine")
    return Path(url2pathname(parts.path))


_MAX_SECONDS = 600
"""How long to wait for another process, which may download all jars over a slow connection."""


@contextlib.contextmanager
def packages_lock(environment: Mapping[str, str]) -> Iterator[None]:
    """Run the block while no other process of the user resolves packages.

    Ivy stores the jars in the user's cache, which it does not lock by default. If two processes
    download the same jar at the same time, neither Spark starts. If there are no file locks or no
    folder for them, or if another process takes longer than ten minutes, the block runs anyway.

    Source:
        https://ant.apache.org/ivy/history/2.5.2/settings/lock-strategies.html (no-lock)
    """
    handle = None
    try:
        handle = _open(environment)
        _wait(handle)
    except OSError as error:
        logger.debug(f"Spark's packages are resolved without a lock: {error}")
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _wait(handle: int) -> None:
    if try_lock(handle):
        return
    logger.info("Waiting for another process that resolves Spark's packages")
    if not wait_for_lock(handle, _MAX_SECONDS):
        logger.debug(f"The other process has held the lock for {_MAX_SECONDS} seconds")


def _open(environment: Mapping[str, str]) -> int:
    if not HAS_FILE_LOCKS:
        raise OSError("This system has no file locks")
    return open_lock(cache_folder(environment) / "packages.lock")
