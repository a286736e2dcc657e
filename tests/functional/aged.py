"""Make tables older, as if their versions had been written some time ago."""

import os
import re
import shutil
from pathlib import Path

from pyspark.sql import SparkSession

from tests.functional.support import Table


def folder_of(table: Table) -> Path:
    """Return the folder of a table."""
    (detail,) = table.spark.sql(f"describe detail {table.name}").collect()
    return Path(detail.location.removeprefix("file:"))


def make_older(spark: SparkSession, table: Table, seconds: int) -> None:
    """Make the files of the log older."""
    for file in (folder_of(table) / "_delta_log").iterdir():
        if file.is_file() and not file.name.startswith("."):
            _make_file_older(file, seconds)
    spark.sql(f"refresh table {table.name}")


def move_to_older_files(table: Table, to: Path, seconds: int) -> None:
    """Move a table to a folder in which its removed files are older.

    Delta has cached the log of the table's old folder, and a server's cache can't be cleared.

    Args:
        table: the table. It is not managed afterwards.
        to: the new folder, which must not exist.
        seconds: how much older the data files become, and the times at which the log says that they
            were removed.
    """
    shutil.copytree(folder_of(table), to)
    for file in to.glob("*.parquet"):
        _make_file_older(file, seconds)
    for commit in (to / "_delta_log").glob("*.json"):
        commit.write_text(
            re.sub(
                r'"deletionTimestamp":(\d+)',
                lambda found: f'"deletionTimestamp":{int(found[1]) - seconds * 1000}',
                commit.read_text(),
            )
        )
        # Hadoop's checksum of the text from before.
        (commit.parent / f".{commit.name}.crc").unlink(missing_ok=True)
    table.spark.sql(f"drop table {table.name}")
    table.spark.sql(f"create table {table.name} using delta location '{to}'")


def _make_file_older(file: Path, seconds: int) -> None:
    then = file.stat().st_mtime - seconds
    os.utime(file, (then, then))
