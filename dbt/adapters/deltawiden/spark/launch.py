"""Launch the JVM of the embedded Spark, with the Java options that make a short run fast."""

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from dbt.adapters.events.logging import AdapterLogger
from py4j.java_gateway import JavaGateway
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from dbt.adapters.deltawiden.spark.class_archive import CLASS_PATH, ClassArchive, find_archive
from dbt.adapters.deltawiden.spark.java import default_options, find_java, given_java_options
from dbt.adapters.deltawiden.spark.redaction import without_secrets
from dbt.adapters.deltawiden.spark.settings import is_local

logger = AdapterLogger("DeltaWiden")

_OPTIONS = "SPARK_SUBMIT_OPTS"


def launch(settings: Mapping[str, str], given: Mapping[str, str], log: TextIO) -> JavaGateway:
    """Launch a JVM.

    Args:
        settings: the settings that Spark starts with.
        given: the settings that the user gives to Spark. Their Java options take precedence.
        log: the file that the JVM writes its output to.

    Returns:
        The gateway to the JVM.
    """
    options = _default_options(settings, given)
    archive = archive_for(settings, given)
    failure = None
    if archive is not None and archive.exists():
        archive.mark_used()
        try:
            return _launch({**settings, **archive.settings}, [*options, *archive.use_options], log)
        except Exception as error:
            failure = error
    try:
        gateway = _launch(settings, options, log)
    except Exception as error:
        if not options:
            raise
        # The user's options can also be in a file. The JVM does not start with two collectors.
        logger.debug(f"The JVM did not start with {' '.join(options)}: {error}")
        return _launch(settings, (), log)
    if archive is not None and failure is not None:
        logger.debug(f"The JVM did not start with {archive.file}, which is deleted: {failure}")
        archive.forget()
    return gateway


def archive_for(settings: Mapping[str, str], given: Mapping[str, str]) -> ClassArchive | None:
    """Return the archive of classes for a JVM.

    Args:
        settings: as for ``launch``.
        given: as for ``launch``.

    Returns:
        The archive, whether or not it has been made. None on a cluster, and if it is not known
        which jars Spark will have.
    """
    has_own_jars = any(key.startswith("spark.jars") for key in given)
    if has_own_jars or "spark.jars.packages" in settings or not _is_local(settings, given):
        return None
    java = find_java(os.environ)
    options = given_java_options({**given, **settings}, os.environ)
    # An archive depends on the garbage collector.
    options += default_options(java, options)
    return find_archive({**given, **settings}, given.get(CLASS_PATH, ""), options, java, os.environ)


def _is_local(settings: Mapping[str, str], given: Mapping[str, str]) -> bool:
    # The settings do not repeat a master that is in spark-defaults.conf.
    return is_local({**given, **settings}["spark.master"])


def _default_options(settings: Mapping[str, str], given: Mapping[str, str]) -> Sequence[str]:
    if not _is_local(settings, given):
        return ()
    options = given_java_options({**given, **settings}, os.environ)
    return default_options(find_java(os.environ), options)


def _launch(settings: Mapping[str, str], options: Sequence[str], log: TextIO) -> JavaGateway:
    # Every user of the machine can read the arguments of a process.
    arguments = SparkConf(loadDefaults=False).setAll(list(without_secrets(settings).items()))
    with _submit_arguments(arguments), _java_options(options):
        return launch_gateway(arguments, {"stdout": log, "stderr": log})


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
def _submit_arguments(conf: SparkConf) -> Iterator[None]:
    """Append the settings to PYSPARK_SUBMIT_ARGS, so that they take precedence over its content.

    Otherwise its content comes last: PySpark passes it to spark-submit after the settings.
    """
    given = os.environ.get("PYSPARK_SUBMIT_ARGS")
    if given is None:
        yield
        return
    options = [word for word in shlex.split(given) if word != "pyspark-shell"]
    for key, value in conf.getAll():
        options += ["--conf", f"{key}={value}"]
    # For spark-submit, this option takes precedence over the equivalent setting.
    packages = conf.get("spark.jars.packages")
    if packages:
        options += ["--packages", packages]
    with _variable("PYSPARK_SUBMIT_ARGS", shlex.join([*options, "pyspark-shell"])):
        yield


@contextlib.contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Set an environment variable until the block ends. Then it has its earlier value, or is empty.

    The JVM starts while dbt parses. While a thread reads all variables of the environment, as dbt
    does for each log event, removing one raises a KeyError in it. So a variable is never removed.
    """
    before = os.environ.get(name, "")
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ[name] = before
