"""What spark-submit, which starts the JVM, is given: the user's settings, and the settings of dbt.

Every user of a machine can read the arguments of a process. So the settings are in a file without a
name, which only this process and the JVM have.
"""

import atexit
import contextlib
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dbt.adapters.deltawiden.spark.java import OPTION_SETTINGS
from dbt.adapters.deltawiden.spark.properties_file import read_text

_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
_PROGRAM = "pyspark-shell"
_PROPERTIES_FILE = "--properties-file"
_CONF = ("--conf", "-c")
_OPTIONS = {
    "--master": "spark.master",
    "--packages": "spark.jars.packages",
    "--jars": "spark.jars",
    "--driver-memory": "spark.driver.memory",
    "--driver-class-path": "spark.driver.extraClassPath",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}
_PLAIN = re.compile(r"[^\w./,-]+", re.ASCII)


def submitted_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in PYSPARK_SUBMIT_ARGS."""
    words = iter(shlex.split(environment.get(_ARGUMENTS, "")))
    settings: dict[str, str] = {}
    for word in words:
        option, equals, value = word.partition("=")
        if option not in _OPTIONS and option not in _CONF:
            continue
        # The value can look like an option, as in --driver-java-options --add-opens=...
        value = value if equals else next(words, "")
        if option in _OPTIONS:
            settings[_OPTIONS[option]] = value
        elif "=" in value:
            key, _, setting = value.partition("=")
            settings[key] = setting
    return settings


def settings_files(environment: Mapping[str, str], defaults: Path) -> list[Path]:
    """Return the files with the user's settings. The last one takes precedence.

    Args:
        defaults: the file with the user's default settings. It may not exist.
    """
    file, others = _split(environment)
    if file is None:
        return [defaults]
    return [defaults, file] if "--load-spark-defaults" in others else [file]


@dataclass(frozen=True)
class Submission:
    """The arguments of spark-submit, and the files that they name."""

    arguments: str
    files: tuple[int, ...]


@contextlib.contextmanager
def submission(
    settings: Mapping[str, str], java_options: str, defaults: Path, environment: Mapping[str, str]
) -> Iterator[Submission]:
    """Yield what spark-submit is given.

    Args:
        settings: the settings that the JVM starts with. They take precedence over the user's own.
        java_options: options of the JVM that are not to be seen among its arguments.
        defaults: the file with the user's default settings. It may not exist.

    Source:
        https://spark.apache.org/docs/latest/configuration.html#dynamically-loading-spark-properties:
        a file that is given with ``--properties-file`` replaces the default one, so its text is
        repeated. The last value of a key counts.
    """
    _, others = _split(environment)
    texts = map(read_text, settings_files(environment, defaults))
    given = {**submitted_settings(environment), **settings}
    with contextlib.ExitStack() as stack:
        files: tuple[int, ...] = ()
        if java_options:
            path, files = stack.enter_context(_unnamed(java_options))
            default, extra = OPTION_SETTINGS
            given |= {default: "", extra: f"-XX:VMOptionsFile={path}"}
        text = "\n\n".join([*texts, _properties(given)])
        path, file = stack.enter_context(_unnamed(text))
        words = [_PROPERTIES_FILE, path, *others, _PROGRAM]
        yield Submission(shlex.join(words), (*files, *file))


def _split(environment: Mapping[str, str]) -> tuple[Path | None, list[str]]:
    """Return the file of settings in PYSPARK_SUBMIT_ARGS, and the words that are not settings."""
    file = None
    others = []
    words = iter(shlex.split(environment.get(_ARGUMENTS, "")))
    for word in words:
        option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if option in (*_OPTIONS, *_CONF, _PROPERTIES_FILE):
            value = value if equals else next(words, "")
            file = Path(value) if option == _PROPERTIES_FILE else file
        elif word != _PROGRAM:
            others.append(word)
    return file, others


def _properties(settings: Mapping[str, str]) -> str:
    """Return settings in the format of java.util.Properties."""
    return "".join(f"{_escaped(key)}={_escaped(str(settings[key]))}\n" for key in settings)


def _escaped(text: str) -> str:
    def unicode_escapes(match: re.Match[str]) -> str:
        units = match[0].encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))

    return _PLAIN.sub(unicode_escapes, text)


@contextlib.contextmanager
def _unnamed(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the path by which child processes read a text, and the descriptors that they inherit.

    On Linux, the file has no name, so nothing is left on the disk if this process is killed. Other
    systems do not let each child read an inherited file from its beginning: there, the file has a
    name until the block ends.
    """
    if sys.platform == "linux":
        with tempfile.TemporaryFile("w+", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            yield f"/proc/self/fd/{stream.fileno()}", (stream.fileno(),)
    else:
        # Only the user can read it. It is closed, because Windows opens a file only once.
        handle, path = tempfile.mkstemp()
        remove = partial(Path(path).unlink, missing_ok=True)
        # A thread in which Spark starts does not end the block if dbt ends before.
        atexit.register(remove)
        try:
            with open(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            yield path, ()
        finally:
            remove()
            atexit.unregister(remove)
