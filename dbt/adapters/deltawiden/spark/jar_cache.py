"""Which jars a package is, as an earlier start of Spark has found them.

At every start Ivy takes seconds to find the same files again. Spark then copies each of them twice;
Delta's package names even those of Hadoop and Parquet, which Spark has itself.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from dbt.adapters.events.logging import AdapterLogger

logger = AdapterLogger("DeltaWiden")


class FoundJars:
    """What Ivy has found for packages, kept in the user's cache folder from one start to the next.

    Args:
        packages: the packages, as ``spark.jars.packages`` has them.
        environment: the process's environment variables.
    """

    def __init__(self, packages: str, environment: Mapping[str, str]) -> None:
        # https://specifications.freedesktop.org/basedir-spec/latest/ (XDG_CACHE_HOME)
        cache = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self._file = Path(cache, "dbt-deltawiden", f"{quote(packages, safe='')}.json")

    def read(self) -> list[str]:
        """Give the jars as URIs; none where one of them is no longer as it was found."""
        with contextlib.suppress(OSError, ValueError):
            sizes = json.loads(self._file.read_text(encoding="utf-8"))
            if isinstance(sizes, dict) and sizes == _sizes(sizes):
                return list(sizes)
        return []

    def write(self, jars: Iterable[str]) -> None:
        """Keep what Ivy has found. Where that can't be, the next start asks Ivy again.

        Args:
            jars: the files' URIs, as ``spark.jars`` has them once Spark has resolved packages.
        """
        try:
            text = json.dumps(_sizes(jars), indent=1)
            self._file.parent.mkdir(parents=True, exist_ok=True)
            _replace(self._file, text)
        except (OSError, ValueError) as error:
            logger.debug(f"The jars that Spark has found are not kept in {self._file}: {error}")

    def forget(self) -> None:
        """Let the next start ask Ivy again."""
        with contextlib.suppress(OSError):
            self._file.unlink()


def beside_own(jars: Iterable[str], own: Path) -> list[str]:
    """Leave out the jars that Spark has itself.

    Of two classes of the same name Spark takes its own: the same file once more is never read.

    Args:
        jars: URIs of jars, with the names that Spark gives them: organization_artifact-version.jar.
        own: the folder with Spark's own jars.

    Returns:
        The other jars' URIs.
    """
    names = set(os.listdir(own)) if own.is_dir() else set()
    return [each for each in jars if _path(each).name.partition("_")[2] not in names]


def _sizes(jars: Iterable[str]) -> dict[str, int]:
    return {each: _path(each).stat().st_size for each in jars}


def _path(uri: str) -> Path:
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise ValueError(f"{uri} is no file of this machine")
    return Path(url2pathname(parts.path))


def _replace(file: Path, text: str) -> None:
    """Write a file in one step: another dbt may be reading it."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(name, file)
    except OSError:
        os.unlink(name)
        raise
