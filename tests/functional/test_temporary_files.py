"""No other user of the machine reads the rows in Spark's temporary files."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.functional.support import again_and_again, dbt

MERGED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select id, concat('secret ', id) as text from range(2000)
"""


def folders(spark: SparkSession) -> list[Path]:
    """Return the folders for the blocks and the other temporary files of Spark, Java and Hadoop."""
    jvm, hadoop = spark._jvm, spark.sparkContext._jsc.hadoopConfiguration()
    blocks = jvm.org.apache.spark.SparkEnv.get().blockManager().diskBlockManager().localDirs()
    return [
        *(Path(each.getPath()) for each in blocks),
        Path(jvm.java.lang.System.getProperty("java.io.tmpdir")),
        Path(hadoop.get("hadoop.tmp.dir")),
    ]


def is_open(path: Path) -> bool:
    """Return whether another user can open a file or folder."""
    above = all(parent.stat().st_mode & 0o001 for parent in path.parents)
    return above and bool(path.stat().st_mode & 0o005)


class TestTemporaryFiles:
    @pytest.fixture(scope="class")
    def models(self):
        return {"merged.sql": MERGED}

    def test_no_row_of_a_merge_can_be_read_by_another_user(self, project, spark: SparkSession):
        dbt("run")
        found: dict[Path, bool] = {}

        def look() -> None:
            for file in folders(spark)[0].rglob("*"):
                try:
                    found[file] = is_open(file)
                except OSError:
                    continue  # Spark has deleted it.

        with again_and_again(look):
            run = dbt("run")
        assert run.status("merged") == "success", run.message("merged")
        assert any(file.name.startswith("rdd_") for file in found)
        assert [file for file, can_be_opened in found.items() if can_be_opened] == []

    def test_no_folder_can_be_opened_by_another_user(self, spark: SparkSession):
        assert [folder for folder in folders(spark) if is_open(folder)] == []

    def test_what_is_uploaded_to_s3_is_stored_there(self, spark: SparkSession):
        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        assert Path(hadoop.get("fs.s3a.buffer.dir")).parent == folders(spark)[1]
