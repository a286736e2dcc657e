"""What is said of a Spark that did not start, and what becomes of its log."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.spark import embedded
from dbt.adapters.deltawiden.spark.file_lock import try_lock_if_supported
from dbt.adapters.deltawiden.spark.start import SparkStart


@pytest.mark.parametrize(
    ("spark", "said"), [("3.5.3", False), ("4.1.4", True), ("10.0.0", True), ("4.2.0.dev1", True)]
)
def test_the_java_that_is_needed_is_that_of_the_version_as_numbers(
    spark: str, said: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    log = tmp_path / "spark.log"
    log.write_text("")
    monkeypatch.setattr(pyspark, "__version__", spark)
    monkeypatch.setattr(embedded, "java_version", lambda environment: "11.0.2")
    error = RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")
    assert ("needs Java 17" in embedded._why_not_started(error, log)) == said


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            FileNotFoundError(2, "No such file or directory", "/old/bin/spark-submit"),
            "Spark did not start: [Errno 2] No such file or directory: '/old/bin/spark-submit'. "
            "The environment variable SPARK_HOME names Spark's folder: correct or unset it",
        ),
        (
            PermissionError(13, "Permission denied", "/spark/bin/spark-submit"),
            "Spark did not start: [Errno 13] Permission denied: '/spark/bin/spark-submit'",
        ),
        (
            FileNotFoundError(2, "No usable temporary directory found in ['/tmp']"),
            "Spark did not start: [Errno 2] No usable temporary directory found in ['/tmp']. Set "
            "the environment variable TMPDIR to a folder that dbt may write to and that has room",
        ),
        (DbtConfigError("no such Java"), "no such Java"),
        (ValueError("No closing quotation"), "Spark did not start: No closing quotation"),
    ],
)
def test_an_error_before_java_is_started_is_said(error: Exception, text: str, tmp_path: Path):
    log = tmp_path / "spark.log"
    log.write_text("")
    assert embedded._why_not_started(error, log) == text


FAILS = """
import os, sys
from pathlib import Path
from dbt.adapters.deltawiden.spark.embedded import SparkDidNotStart, start_spark
from dbt.adapters.deltawiden.spark.redaction import hide
from dbt.adapters.deltawiden.spark.file_lock import try_lock_if_supported
from dbt.adapters.deltawiden.spark.start import SparkStart
hide(["hunter2"])
log = Path("spark.log")
try:
    start_spark(SparkStart.read({}), log)
except SparkDidNotStart as error:
    print(error.msg)
log.write_text("hunter2")
if sys.argv[1] == "symlink":
    log.unlink()
    log.symlink_to("theirs")
elif sys.argv[1] == "link":
    log.unlink()
    os.link("theirs", log)
"""


@pytest.mark.parametrize("planted", ["symlink", "link", ""])
def test_secrets_are_hidden_in_the_log_and_in_no_file_that_was_put_in_its_place(
    tmp_path: Path, planted: str, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "theirs").write_text("hunter2")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "old"))
    command = [sys.executable, "-c", FAILS, planted]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "SPARK_HOME" in run.stdout
    assert (tmp_path / "theirs").read_text() == "hunter2"
    assert (tmp_path / "spark.log").read_text() == ("hunter2" if planted else "*******")


def test_a_log_is_private_and_has_a_name(tmp_path: Path):
    # A JVM that refuses its options is recognised by what the file of that name has.
    with embedded._private_file(tmp_path / "spark.log") as log:
        assert log.name == str(tmp_path / "spark.log")
    assert (tmp_path / "spark.log").stat().st_mode & 0o777 == 0o600


def test_each_spark_that_runs_has_a_log_of_its_own(tmp_path: Path):
    log, own = tmp_path / "spark.log", tmp_path / f"spark-{os.getpid()}.log"
    ended, notes = tmp_path / "spark-7.log", tmp_path / "spark-notes.log"
    ended.touch()
    notes.touch()
    with embedded._private_file(log) as stream:
        assert try_lock_if_supported(stream.fileno())
        inherited = os.dup(stream.fileno())
    assert embedded._unused_log(tmp_path) == own
    assert {*tmp_path.iterdir()} == {log, notes}
    os.close(inherited)
    assert embedded._unused_log(tmp_path) == log


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_log_is_not_a_file_that_another_user_has_made(tmp_path: Path, link):
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    link(tmp_path / "spark.log", theirs)
    with embedded._private_file(tmp_path / "spark.log") as log:
        log.write("ours")
    assert theirs.read_text() == "theirs"
    assert (tmp_path / "spark.log").read_text() == "ours"


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path):
    with pytest.raises(embedded.SparkDidNotStart, match=f"written to {tmp_path}: Is a directory"):
        embedded.start_spark(SparkStart.read({}), tmp_path)
