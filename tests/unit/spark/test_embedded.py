"""What is said of a Spark that did not start."""

from pathlib import Path

import pyspark
import pytest

from dbt.adapters.deltawiden.spark import embedded
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
    assert ("needs Java 17" in embedded._why_not_started(OSError("no JVM"), log)) == said


def test_a_log_is_private_and_has_a_name(tmp_path: Path):
    # A JVM that refuses its options is recognised by what the file of that name has.
    with embedded._private_file(tmp_path / "spark.log") as log:
        assert log.name == str(tmp_path / "spark.log")
    assert (tmp_path / "spark.log").stat().st_mode & 0o777 == 0o600


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
