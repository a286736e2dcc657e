"""Launch the JVM of the embedded Spark, with the Java options that make a short run fast."""

import contextlib
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from dbt_common.exceptions import DbtConfigError
from py4j.java_gateway import JavaGateway
from pyspark.java_gateway import launch_gateway

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.class_archive import ClassArchive
from dbt.adapters.deltawiden.spark.errors import java_major
from dbt.adapters.deltawiden.spark.java import OPTION_SETTINGS, java_version
from dbt.adapters.deltawiden.spark.redaction import has_secret
from dbt.adapters.deltawiden.spark.settings import defaults_file
from dbt.adapters.deltawiden.spark.start import SparkStart
from dbt.adapters.deltawiden.spark.submit import submission
from dbt.adapters.deltawiden.spark.temporary_folder import TemporaryFolder

_OPTIONS = "SPARK_SUBMIT_OPTS"
_FIRST_WITH_OPTIONS_FILE = 9
# Derby writes to the JVM's output, which is Spark's log. By default it opens `derby.log` in the
# working folder, and empties the file that a link of this name leads to.
_DERBY_LOG = "-Dderby.stream.error.field=java.lang.System.err"


# What the JVM prints if it refuses its options, or if it crashes because of a damaged archive.
_REFUSED = re.compile(
    "Could not create the Java Virtual Machine|Error occurred during initialization of VM"
    "|Unrecognized VM option|A fatal error has been detected by the Java Runtime Environment"
)


def launch(
    start: SparkStart,
    archive: ClassArchive | None,
    log: TextIO,
    folder: TemporaryFolder | None = None,
) -> JavaGateway:
    """Launch a JVM. If it refuses what is added to the user's options, launch it with less."""
    *attempts, last = _attempts(start, archive)
    refused = None
    for attempt in attempts:
        before = os.path.getsize(log.name)
        try:
            return _launch(start, attempt, refused, log, folder)
        except Exception as error:
            output = Path(log.name).read_bytes()[before:]
            if not _REFUSED.search(output.decode(errors="replace")):
                raise
            logger.debug(f"The JVM did not start with {' '.join(attempt.options)}: {error}")
            refused = attempt
    return _launch(start, last, refused, log, folder)


@dataclass(frozen=True)
class _Attempt:
    """One way to launch the JVM."""

    settings: Mapping[str, str]
    options: tuple[str, ...]
    archive: ClassArchive | None = None


def _attempts(start: SparkStart, archive: ClassArchive | None) -> list[_Attempt]:
    """Return the ways to launch the JVM, from the fastest to the one that adds no option."""
    settings, defaults = start.settings, start.java.defaults
    attempts = [_Attempt(settings, defaults)]
    if defaults:
        # The user's options can also be in a file, and a JVM does not start with two collectors.
        attempts.append(_Attempt(settings, ()))
    if archive is not None and archive.exists():
        options = (*defaults, *archive.use_options)
        attempts.insert(0, _Attempt({**settings, **archive.settings}, options, archive))
    return attempts


def _launch(
    start: SparkStart,
    attempt: _Attempt,
    refused: _Attempt | None,
    log: TextIO,
    folder: TemporaryFolder | None,
) -> JavaGateway:
    if attempt.archive is not None:
        attempt.archive.mark_used()
    environment = start.environment
    options = _secret_options(start)
    own, lock = ((folder.java_option,), (folder.lock,)) if folder is not None else ((), ())
    with (
        submission(attempt.settings, options, defaults_file(environment), environment) as given,
        # PySpark's own default, so that it starts another JVM as if the variable were not set.
        _variable("PYSPARK_SUBMIT_ARGS", given.arguments, unset="pyspark-shell"),
        _java_options((_DERBY_LOG, *own, *attempt.options)),
    ):
        files = (*given.files, *lock)
        gateway = launch_gateway(None, {"stdout": log, "stderr": log, "pass_fds": files})
    if refused is not None and refused.archive is not None:
        # Only the archive is missing this time, so it was the reason.
        refused.archive.give_up("The JVM did not start with it.")
    return gateway


def _secret_options(start: SparkStart) -> str:
    """Return the user's Java options for a file of the JVM if there is a secret in them."""
    text = " ".join(start.every.get(key, "") for key in OPTION_SETTINGS)
    if not has_secret(text):
        return ""
    # The driver of a cluster is here, too.
    version = java_version(start.environment)
    major = java_major(version) if version is not None else 0
    if major is None:
        raise DbtConfigError(
            "Spark's Java options have a secret, which every user of the machine could read among "
            f"the arguments of Java, and the version of Java is not known ({version}). Set "
            "JAVA_HOME to a Java whose `java -version` says its version, or remove the secret"
        )
    if major < _FIRST_WITH_OPTIONS_FILE:
        return ""
    # https://docs.oracle.com/en/java/javase/17/docs/specs/man/java.html (-XX:VMOptionsFile)
    return "\n".join(f"'{word}'" if '"' in word else f'"{word}"' for word in shlex.split(text))


@contextlib.contextmanager
def _java_options(options: Sequence[str]) -> Iterator[None]:
    """Add options to those that spark-submit starts the JVM with, before the user's own.

    Of two options with different values, the JVM uses the last one.
    """
    if not options:
        yield
        return
    words = [*map(shlex.quote, options), os.environ.get(_OPTIONS, "")]
    with _variable(_OPTIONS, " ".join(words)):
        yield


@contextlib.contextmanager
def _variable(name: str, value: str, unset: str = "") -> Iterator[None]:
    """Set an environment variable until the block ends. Then it has its value from before.

    The JVM starts while dbt parses. While a thread reads all variables of the environment, as dbt
    does for each log event, removing one raises a KeyError in it. So a variable is never removed.
    """
    before = os.environ.get(name, unset)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ[name] = before
