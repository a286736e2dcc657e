"""Make an archive of the classes that Spark and Delta load. ``class_archive`` starts this module.

python -m dbt.adapters.deltawiden.spark.class_archive_training ARCHIVE SECONDS
"""

import contextlib
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.spark.class_archive import MEMORY, ClassArchive, remove_old_archives
from dbt.adapters.deltawiden.spark.embedded import SPARK_ERRORS
from dbt.adapters.deltawiden.spark.file_lock import open_lock, try_lock
from dbt.adapters.deltawiden.spark.java import find_java
from dbt.adapters.deltawiden.spark.start import SparkStart

_TEMPORARY = "making-"

# The user's settings could point to a metastore or to files that are not ours. Hive reads
# hive-site.xml from the folders of two of these variables, and Spark adds the folders of others to
# its class path:
# https://github.com/apache/hive/blob/rel/release-2.3.10/common/src/java/org/apache/hadoop/hive/conf/HiveConf.java
# (findConfigFile)
_NOT_INHERITED = (
    *("HADOOP_CONF_DIR", "HIVE_CONF_DIR", "HIVE_HOME", "MASTER"),
    *("PYSPARK_SUBMIT_ARGS", "SPARK_DIST_CLASSPATH", "SPARK_SUBMIT_OPTS", "YARN_CONF_DIR"),
)

# The kinds of statements that dbt and this adapter run.
_STATEMENTS = (
    "show schemas",
    """create table {schema}.t using delta tblproperties ('delta.enableTypeWidening' = 'true') as
    select id, cast(id % 7 as tinyint) as kind, cast(id * 0.25 as decimal(12, 2)) as amount,
    concat('note ', id) as note, date '2026-01-01' as day, timestamp '2026-01-01 12:00:00' as time,
    array(id) as ids, named_struct('x', 1, 'y', 'z') as s from range(0, 1000, 1, 2)""",
    """create or replace temporary view source as select t.id, cast(t.kind as smallint) as kind,
    t.amount, t.note, t.day, t.time, t.ids, t.s
    from {schema}.t join range(500, 1500) r on t.id = r.id
    where t.note like 'note %' order by t.id""",
    "alter table {schema}.t alter column kind type smallint",
    """merge into {schema}.t using source on t.id = source.id
    when matched then update set * when not matched then insert *""",
    "insert into {schema}.t select * from source",
    "insert overwrite table {schema}.t select * from source",
    "create or replace table {schema}.t using delta as select * from source",
    "update {schema}.t set note = 'x' where id = 1",
    "delete from {schema}.t where id = 2",
    """create or replace view {schema}.v as
    select kind, count(*) as n, sum(amount) as total from {schema}.t group by kind""",
    "describe extended {schema}.t",
    "describe detail {schema}.t",
    "describe history {schema}.t",
    "show tblproperties {schema}.t",
    "show table extended in {schema} like '*'",
    "show tables in {schema}",
    "show views in {schema}",
    "select n, row_number() over (order by n) from {schema}.v union all select 1, 2",
    "alter table {schema}.t add columns (z int)",
    "drop view {schema}.v",
    "drop table {schema}.t",
)


def main(text: str) -> None:
    """Make an archive, given as JSON, unless it exists or another process is making one."""
    fields = json.loads(text)
    archive = ClassArchive(**{**fields, "options": tuple(fields["options"])})
    folder = Path(archive.file).parent
    with _locked(folder / "lock") as has_lock:
        if has_lock and not archive.exists():
            # Only the process with the lock may delete what a process that was killed has left.
            for left in folder.glob(f"{_TEMPORARY}*"):
                shutil.rmtree(left, ignore_errors=True)
            work = Path(tempfile.mkdtemp(dir=folder, prefix=_TEMPORARY))
            try:
                _make(archive, work)
            finally:
                shutil.rmtree(work, ignore_errors=True)
            remove_old_archives(folder)


def _take_turns() -> None:
    """Let other programs run first, and have the memory.

    Linux can group the processes of a session, and then compares the groups: sched(7), "The
    autogroup feature". If memory is short, it first ends a process with the highest score, which
    the JVM inherits: https://man7.org/linux/man-pages/man5/proc_pid_oom_score_adj.5.html
    """
    os.nice(10)
    for name, number in (("autogroup", "10"), ("oom_score_adj", "1000")):
        with contextlib.suppress(OSError):
            Path("/proc/self", name).write_text(number)


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[bool]:
    """Yield whether this process has the lock. It loses the lock when it ends, however it ends."""
    handle = open_lock(file)
    try:
        yield try_lock(handle)
    finally:
        os.close(handle)


def _make(archive: ClassArchive, work: Path) -> None:
    made = work / "classes.jsa"
    try:
        _train(archive, made, work)
        _check(archive, made)
    except (Exception, _OutOfTimeError) as error:
        _end_children()
        archive.write_stamp(failed=str(error))
        return
    with made.open("rb") as stream:
        os.fsync(stream.fileno())
    os.replace(made, archive.file)
    archive.write_stamp()


def _train(archive: ClassArchive, made: Path, work: Path) -> None:
    """Run statements in a Spark that writes its classes to an archive when it ends."""
    os.chdir(work)
    configuration = work / "conf"
    configuration.mkdir()
    for name in _NOT_INHERITED:
        os.environ.pop(name, None)
    os.environ["SPARK_CONF_DIR"] = str(configuration)
    # Without the second compiler, it takes less time and memory.
    options = [*archive.options, "-XX:TieredStopAtLevel=1", f"-XX:ArchiveClassesAtExit={made}"]
    # Spark splits this variable into words as a shell does.
    os.environ["SPARK_SUBMIT_OPTS"] = shlex.join(options)
    database = f"jdbc:derby:;databaseName={work / 'metastore_db'};create=true"
    own = {
        **archive.settings,
        MEMORY: archive.memory,
        "spark.testing.reservedMemory": "0",  # Otherwise, Spark needs 450 MB.
        "spark.master": "local[2]",
        # A hive-site.xml or core-site.xml that Spark finds all the same has no effect on these.
        "spark.hadoop.fs.defaultFS": "file:///",
        "spark.hadoop.hive.metastore.uris": "",
        "spark.hadoop.javax.jdo.option.ConnectionURL": database,
        # Not as_uri(): Spark takes the characters of this setting literally.
        "spark.sql.warehouse.dir": f"file:{work / 'warehouse'}",
    }
    settings = SparkStart.read(own, os.environ).settings
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    with (work / "spark.log").open("w") as log:
        gateway = launch_gateway(conf, {"stdout": log, "stderr": log})
    try:
        SparkContext(conf=conf, gateway=gateway)
        _run_statements()
        gateway.shutdown()
        # PySpark's JVM ends when its standard input does.
        gateway.proc.stdin.close()
        gateway.proc.wait()
    except Py4JJavaError as error:
        # Its text comes from the JVM, which ends now.
        raise RuntimeError(str(error)) from None
    finally:
        gateway.proc.kill()


def _run_statements() -> None:
    session = SparkSession.builder.getOrCreate()
    # Nobody else has this schema. If it can't be created, this is not a metastore of our own.
    schema = f"training_{secrets.token_hex(8)}"
    session.sql(f"create schema {schema}")
    for statement in _STATEMENTS:
        # Not every version of Spark and Delta supports all of them.
        with contextlib.suppress(*SPARK_ERRORS):
            session.sql(statement.format(schema=schema)).collect()
    session.stop()


def _check(archive: ClassArchive, made: Path) -> None:
    """Check that a JVM accepts the archive."""
    java = find_java(os.environ)
    if java is None:
        raise FileNotFoundError("There is no Java.")
    use = [f"-XX:SharedArchiveFile={made}", "-Xshare:on", *archive.options]
    command = [str(java.home / "bin" / "java"), *use, "-cp", archive.class_path, "-version"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)


class _OutOfTimeError(BaseException):
    """The time is over. It is no ``Exception``, which Py4J would turn into an error of Spark."""


def _give_up_after(seconds: int) -> None:
    """End the work after some seconds. The reason is stored, and the files are removed."""

    def give_up(*_: object) -> None:
        raise _OutOfTimeError(f"It took more than {seconds} seconds.")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)


def _end_children() -> None:
    """End a JVM that has not started yet. It is in this process's group, with nothing else."""
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)


if __name__ == "__main__":
    _take_turns()
    _give_up_after(int(sys.argv[2]))
    main(sys.argv[1])
