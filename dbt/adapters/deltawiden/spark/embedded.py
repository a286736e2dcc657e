"""Start Spark inside dbt's process, and explain in one sentence why it does not start."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

import pyspark
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from dbt.adapters.deltawiden.spark.errors import error_text, start_failure_text
from dbt.adapters.deltawiden.spark.jar_cache import JarCache, without_bundled
from dbt.adapters.deltawiden.spark.redaction import scrubbed, without_secrets
from dbt.adapters.deltawiden.spark.settings import (
    adds_only_own_jars,
    bundled_jars_dir,
    start_settings,
)
from dbt.adapters.deltawiden.sql.versions import read_version

logger = AdapterLogger("DeltaWiden")


SPARK_ERRORS = (PySparkException, Py4JError)
"""The exceptions that PySpark raises for an error of Spark or Delta."""


class SparkDidNotStart(DbtRuntimeError):
    """Spark could not be started; the message says what to install or set."""


def start_spark(parameters: Mapping[str, str], log_file: Path | None = None) -> None:
    """Start Spark in this process, and write its output to a file.

    Args:
        parameters: ``server_side_parameters`` of the profile.
        log_file: the file; without it, ``spark.log`` beside dbt's log.

    Raises:
        SparkDidNotStart: there is no Java, Java is too old, jars can't be resolved, or the JVM did
            not start for another reason.
    """
    log_file = log_file or _log_file()
    with log_file.open("w", encoding="utf-8") as log:
        # The JVM keeps this file open for its output, which does not belong among dbt's.
        try:
            if "PYSPARK_GATEWAY_PORT" in os.environ:
                SparkContext(conf=_submitted_conf(parameters))
                return
            settings = start_settings(parameters, os.environ)
            ours = adds_only_own_jars(parameters, os.environ)
            with _found_jars(settings.get("spark.jars.packages") if ours else None) as found:
                _start(settings, found, log)
        except Exception as error:
            logger.debug(f"{error}\n{_read(log_file)}")
            raise SparkDidNotStart(scrubbed(_why_not_started(error, log_file))) from error


def _start(settings: Mapping[str, str], found: JarCache | None, log: TextIO) -> None:
    """Start a JVM, and Spark in it.

    Args:
        settings: the settings to start with.
        found: the cache of the jars of its packages, or None if they are not cached.
        log: the file that the JVM writes its output to.
    """
    jars = found.read() if found is not None else []
    if jars:
        settings = {
            **settings,
            "spark.jars": ",".join(without_bundled(jars, bundled_jars_dir(os.environ))),
        }
        del settings["spark.jars.packages"]
    # Every user of the machine can read the arguments of a process.
    arguments = _conf(without_secrets(settings))
    with _submit_arguments(arguments):
        gateway = launch_gateway(arguments, {"stdout": log, "stderr": log})
    if found is not None and not jars:
        found.write(SparkConf(_jvm=gateway.jvm).get("spark.jars", "").split(","))
    SparkContext(conf=_conf(settings), gateway=gateway)


@contextlib.contextmanager
def _found_jars(packages: str | None) -> Iterator[JarCache | None]:
    """Yield the cached jars of the packages, and clear the cache entry if the start fails."""
    found = JarCache(packages, os.environ) if packages else None
    try:
        yield found
    except Exception:
        # One of the cached files may be the cause, whatever the error is.
        if found is not None:
            found.forget()
        raise


def _conf(settings: Mapping[str, str], load_defaults: bool = False) -> SparkConf:
    return SparkConf(loadDefaults=load_defaults).setAll(list(settings.items()))


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
    os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join([*options, "pyspark-shell"])
    try:
        yield
    finally:
        os.environ["PYSPARK_SUBMIT_ARGS"] = given


def _submitted_conf(parameters: Mapping[str, str]) -> SparkConf:
    """Return the settings of the spark-submit that started this process, completed with ours."""
    SparkContext._ensure_initialized()
    given = dict(SparkConf().getAll())
    return _conf({**given, **start_settings({**given, **parameters}, {})}, load_defaults=True)


def _log_file() -> Path:
    from dbt.flags import get_flags

    folder = getattr(get_flags(), "LOG_PATH", None) or tempfile.mkdtemp(prefix="dbt-deltawiden-")
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder) / "spark.log"


def _read(log_file: Path) -> str:
    return log_file.read_text(encoding="utf-8", errors="replace")


def _why_not_started(error: Exception, log_file: Path) -> str:
    if isinstance(error, SPARK_ERRORS) and "JAVA_GATEWAY_EXITED" not in str(error):
        return f"Spark did not start: {error_text(error)}"
    minimum_java = 17 if read_version(pyspark.__version__) >= (4,) else 8
    why = start_failure_text(_read(log_file), _java_version(), minimum_java)
    return f"{why} (Spark's own lines are in {log_file})"


def _java_version() -> str | None:
    """Return the version of the Java that Spark would use, or None if there is no Java."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if not java or not os.path.exists(java):
        return None
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "([^"]+)"', printed.stderr + printed.stdout)
    return match.group(1) if match else "unknown"
