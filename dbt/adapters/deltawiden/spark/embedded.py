"""Start Spark inside dbt's process, and explain in one sentence why it does not start."""

import atexit
import contextlib
import errno
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import pyspark
from dbt_common.exceptions import DbtRuntimeError
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.announce import announced
from dbt.adapters.deltawiden.spark.class_archive import ClassArchive, find_archive
from dbt.adapters.deltawiden.spark.errors import error_text, start_failure_text
from dbt.adapters.deltawiden.spark.file_lock import try_lock_if_supported
from dbt.adapters.deltawiden.spark.jar_cache import JarCache, packages_lock, without_bundled
from dbt.adapters.deltawiden.spark.java import java_version
from dbt.adapters.deltawiden.spark.launch import launch
from dbt.adapters.deltawiden.spark.redaction import hide_in_file, open_no_link, scrubbed
from dbt.adapters.deltawiden.spark.running import RunningSpark, note_running
from dbt.adapters.deltawiden.spark.scala import delete_at_end
from dbt.adapters.deltawiden.spark.settings import bundled_jars_dir
from dbt.adapters.deltawiden.spark.start import SparkStart
from dbt.adapters.deltawiden.spark.temporary_folder import TemporaryFolder, temporary_folder
from dbt.adapters.deltawiden.sql.versions import read_version

_OTHER_LOG = re.compile(r"spark-\d{1,7}[.]log")  # with the id of a process
_HIVE_FOLDER = "hive.downloaded.resources.dir"
_HADOOP_FOLDER = "hadoop.tmp.dir"
_LOCAL_DIR = "spark.local.dir"

SPARK_ERRORS = (PySparkException, Py4JError, ConnectionError)
"""The exceptions that PySpark raises for an error of Spark or Delta, and if Spark has ended."""


class SparkDidNotStart(DbtRuntimeError):
    """Spark could not be started; the message says what to install or set."""


def start_spark(start: SparkStart, log_file: Path | None = None) -> ClassArchive | None:
    """Start Spark in this process, and write its output to a file.

    Args:
        log_file: the file; without it, ``spark.log`` beside dbt's log, or ``spark-PID.log`` if
            another Spark writes to that.

    Returns:
        The archive of classes for the next start, which the caller makes when it ends. None if this
        Spark can't have one.

    Raises:
        SparkDidNotStart: there is no Java, Java is too old, jars can't be resolved, or the JVM did
            not start for another reason.
    """
    log_file = log_file or _log_file()
    with _private_file(log_file) as log:
        # The JVM inherits the log with its lock.
        try_lock_if_supported(log.fileno())
        atexit.register(hide_in_file, log_file, os.fstat(log.fileno()))
        # The JVM keeps this file open for its output, which does not belong among dbt's.
        try:
            if start.is_submitted:
                SparkContext(conf=_submitted_conf(start))
                return None
            with (
                announced("Spark is starting."),
                _private_start(start) as (private, folder),
                _found_jars(private) as found,
            ):
                archive = _start(private, found, log, folder)
            gateway: Any = SparkContext._gateway
            process = gateway.proc
            note_running(RunningSpark(process.pid, log_file, lambda: process.poll() is not None))
            return archive
        except Exception as error:
            logger.debug(f"{error}\n{_read(log_file)}")
            raise SparkDidNotStart(scrubbed(_why_not_started(error, log_file))) from error


@contextlib.contextmanager
def _private_start(start: SparkStart) -> Iterator[tuple[SparkStart, TemporaryFolder | None]]:
    """Yield a start whose temporary files only the user can read, and their folder.

    A folder that the user names takes precedence. The executors of a cluster have other folders.
    """
    if not start.is_on_one_machine:
        yield start, None
        return
    with temporary_folder(start.java.given) as folder:
        given = {} if folder is None or _LOCAL_DIR in start.given else {_LOCAL_DIR: folder.path}
        yield replace(start, settings={**start.settings, **given}), folder


def _start(
    start: SparkStart, found: JarCache | None, log: TextIO, folder: TemporaryFolder | None
) -> ClassArchive | None:
    """Start a JVM, with cached jars if there are any, and Spark in it: ``start_spark``."""
    resolves = _with_jars(start, found).resolves_packages
    with packages_lock(start.environment) if resolves else contextlib.nullcontext():
        # Another process may have resolved them while this one waited.
        resolved = _with_jars(start, found)
        archive = find_archive(resolved)
        if found is not None and resolved.resolves_packages:
            logger.info("Delta's jars are downloaded, once, unless they are on this machine.")
        gateway = launch(resolved, archive, log, folder)
        if found is not None and resolved.resolves_packages:
            found.write(SparkConf(_jvm=gateway.jvm).get("spark.jars", "").split(","))
            archive = find_archive(_with_jars(start, found))
    context = SparkContext(conf=_conf(resolved.settings), gateway=gateway)
    # PySpark itself takes the first python3 of the PATH, whatever spark.pyspark.python is.
    context.pythonExec = start.python or context.pythonExec
    _keep_hive_files(context)
    if folder is not None:
        _use_folder(context, folder.path)
    return archive


def _keep_hive_files(context: Any) -> None:
    """Let Hive's client have its folder among Spark's temporary files, which Spark deletes.

    By default, each client leaves a folder beside them.
    """
    hadoop = context._jsc.hadoopConfiguration()
    if hadoop.get(_HIVE_FOLDER) is None:
        hadoop.set(_HIVE_FOLDER, context._jvm.org.apache.spark.SparkFiles.getRootDirectory())


def _use_folder(context: Any, folder: str) -> None:
    """Store there what Hadoop uploads to S3, unless the user says where, and delete it at the end.

    It also has the files that the JVM itself does not delete.
    """
    hadoop = context._jsc.hadoopConfiguration()
    if [*(hadoop.getPropertySources(_HADOOP_FOLDER) or ())] == ["core-default.xml"]:
        hadoop.set(_HADOOP_FOLDER, folder)
    delete_at_end(context, folder)


def _with_jars(start: SparkStart, found: JarCache | None) -> SparkStart:
    """Return the start with the cached jars in place of the packages."""
    jars = found.read() if found is not None else []
    own = bundled_jars_dir(start.environment)
    return start.with_jars(",".join(without_bundled(jars, own))) if jars else start


@contextlib.contextmanager
def _found_jars(start: SparkStart) -> Iterator[JarCache | None]:
    """Yield the cached jars of the packages, and clear the cache entry if the start fails."""
    packages = start.own_packages
    found = JarCache(packages, start.environment) if packages else None
    try:
        yield found
    except Exception:
        # One of the cached files may be the cause, whatever the error is.
        if found is not None:
            found.forget()
        raise


def _conf(settings: Mapping[str, str], load_defaults: bool = False) -> SparkConf:
    return SparkConf(loadDefaults=load_defaults).setAll(list(settings.items()))


def _submitted_conf(start: SparkStart) -> SparkConf:
    """Return the settings of the spark-submit that started this process, completed with ours."""
    SparkContext._ensure_initialized()
    given = dict(SparkConf().getAll())
    own = SparkStart.read({**given, **start.profile}, {})
    return _conf({**given, **own.settings}, load_defaults=True)


def _log_file() -> Path:
    from dbt.flags import get_flags

    folder = getattr(get_flags(), "LOG_PATH", None) or tempfile.mkdtemp(prefix="dbt-deltawiden-")
    Path(folder).mkdir(parents=True, exist_ok=True)
    return _unused_log(Path(folder))


def _unused_log(folder: Path) -> Path:
    """Return a log that no other Spark writes to, and remove the other logs of those that ended."""
    for other in folder.glob("spark-*.log"):
        if _OTHER_LOG.fullmatch(other.name) and not _is_in_use(other):
            with contextlib.suppress(OSError):  # It can be another user's.
                other.unlink()
    log = folder / "spark.log"
    return folder / f"spark-{os.getpid()}.log" if _is_in_use(log) else log


def _is_in_use(log: Path) -> bool:
    """Return whether a JVM that runs has the lock of its log."""
    try:
        with open(log, "r+b", opener=open_no_link) as stream:
            return not try_lock_if_supported(stream.fileno())
    except OSError:
        return False


def _private_file(file: Path) -> TextIO:
    """Open a file that only the user can read: Spark's lines can show settings and rows."""
    try:
        # Another user can have made the file, or a link in its place, and would read it.
        file.unlink(missing_ok=True)
        # By its path: the stream of a descriptor does not have the path as its name.
        return open(file, "x", encoding="utf-8", opener=_open_private)
    except OSError as error:
        raise SparkDidNotStart(
            f"Spark's output can't be written to {file}: {error.strerror}. Delete that file, or "
            "choose another folder with --log-path"
        ) from error


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read(log_file: Path) -> str:
    return log_file.read_text(encoding="utf-8", errors="replace")


def _why_not_started(error: Exception, log_file: Path) -> str:
    if isinstance(error, DbtRuntimeError):
        return str(error.msg)
    if isinstance(error, OSError) and not isinstance(error, SPARK_ERRORS):
        return f"Spark did not start: {error}{_advice(error)}"
    if "JAVA_GATEWAY_EXITED" not in str(error):
        return f"Spark did not start: {error_text(error)}"
    minimum_java = 17 if read_version(pyspark.__version__) >= (4,) else 8
    why = start_failure_text(_read(log_file), java_version(os.environ), minimum_java)
    return f"{why} (Spark's own lines are in {log_file})"


def _advice(error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and "spark-submit" in str(error.filename):
        return ". The environment variable SPARK_HOME names Spark's folder: correct or unset it"
    if error.filename is None and error.errno in (errno.ENOENT, errno.ENOSPC):
        return (
            ". Set the environment variable TMPDIR to a folder that dbt may write to and that has "
            "room"
        )
    return ""
