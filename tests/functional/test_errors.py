"""An error of Spark or Delta has its condition and its message, and no Java stack."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from pyspark.sql import SparkSession

from tests.functional.support import dbt

TABLE = "{{ config(materialized='table') }} "
DAMAGED = TABLE + "select max(u) as u from {{ target.schema }}.is_damaged"
HOOKED = """
{{ config(materialized='table', post_hook=[
  "create or replace table {{ target.schema }}.hooks (n int) using delta",
  "insert into {{ target.schema }}.hooks values (1)",
  "select assert_true(n = {{ var('n', 1) }}, 'other n'), 1 as a, 1 as a, null from {{ this }}"]) }}
select 1 as n
"""


class TestErrors:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            # Refused while the statement is analysed, while it runs, and by Delta.
            "analysed.sql": TABLE + "select nothing_of_the_kind from range(1)",
            "running.sql": TABLE + "select cast(raise_error('stop here') as string) as x",
            # Spark's message comes from an error of a library, which has no condition.
            "in_library.sql": TABLE + "select xpath_string('<a>' || id, 'a') as x from range(1)",
            "damaged.sql": DAMAGED,
            "hooked.sql": HOOKED,
            "by_delta.sql": """
{{ config(materialized='incremental', tblproperties={'delta.appendOnly': 'true'},
          incremental_strategy='merge', unique_key='id') }}
select 1 as id
""",
        }

    def test_errors_have_a_condition_and_a_message_and_no_java_stack(self, project, logs_dir):
        dbt("run", "--exclude", "in_library", "damaged")
        run = dbt("run", "--exclude", "in_library", "damaged")
        assert "[UNRESOLVED_COLUMN" in run.message("analysed")
        assert "nothing_of_the_kind" in run.message("analysed")
        assert "stop here" in run.message("running")
        assert "[DELTA_CANNOT_MODIFY_APPEND_ONLY]" in run.message("by_delta")
        for java in ("\tat ", "Py4J", "py4j", "java.lang", "org.apache.spark", "Traceback"):
            assert java not in run.output
        # dbt's log has the stack.
        assert "\tat org.apache.spark" in (Path(logs_dir) / "dbt.log").read_text()

    def test_the_deepest_cause_is_shown(self, project):
        message = dbt("run", "-s", "in_library").message("in_library")
        assert re.search("\n +Caused by: .*XML document structures must start and end", message)

    def test_a_query_of_a_hook_runs_to_its_last_column(self, project, table):
        assert dbt("run", "-s", "hooked").status("hooked") == "success"
        assert "other n" in dbt("run", "-s", "hooked", n=2).message("hooked")
        assert table("hooks").rows() == [(1,)]

    def test_a_damaged_file_says_how_to_go_back(self, project, spark: SparkSession):
        table = f"{project.test_schema}.is_damaged"
        spark.sql(f"create table {table} using delta as select uuid() as u from range(10000)")
        ((name,),) = spark.sql(f"select distinct input_file_name() from {table} limit 1").collect()
        file = Path(urlparse(name).path)
        content = bytearray(file.read_bytes())
        middle = len(content) // 2
        content[middle : middle + 1000] = bytes(1000)
        file.write_bytes(content)
        message = dbt("run", "-s", "damaged").message("damaged")
        assert "[FAILED_READ_FILE" in message
        assert file.name in message
        assert "restore table NAME to version as of N" in message

    def test_show_reads_no_more_rows_than_its_limit(self, project):
        run = dbt("show", "--inline", "select id from range(100)", "--limit", "2")
        assert "|  1 |" in run.output
        assert "|  2 |" not in run.output


@pytest.mark.slow
class TestADamagedCheckpoint:
    @pytest.fixture(scope="class")
    def models(self):
        return {"damaged.sql": DAMAGED}

    def test_the_error_says_what_to_do_and_that_helps(self, project, spark):
        table = f"{project.test_schema}.is_damaged"
        every_second = "tblproperties ('delta.checkpointInterval' = '2')"
        spark.sql(f"drop table if exists {table}")
        spark.sql(f"create table {table} (u string) using delta {every_second}")
        for _ in range(4):
            spark.sql(f"insert into {table} select uuid() from range(10)")
        log = Path(spark.sql(f"describe detail {table}").collect()[0].location[5:]) / "_delta_log"
        checkpoint = max(log.glob("*.checkpoint.parquet"))
        checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
        message = run_anew(spark)
        assert checkpoint.name in message
        assert "move the checkpoint and _last_checkpoint out of the folder" in message
        checkpoint.unlink()
        (log / "_last_checkpoint").unlink()
        assert run_anew(spark) == "OK"
        # Neither a checkpoint nor all commits.
        for file in (*log.glob("*.checkpoint.parquet"), log / f"{1:020}.json"):
            file.unlink()
        message = run_anew(spark)
        assert "[DELTA_VERSIONS_NOT_CONTIGUOUS]" in message
        assert "drop the table and build it again" in message
        spark.sql(f"drop table {table}")
        spark.sql(f"create table {table} using delta as select uuid() as u")
        assert run_anew(spark) == "OK"


def run_anew(spark: SparkSession) -> str:
    """Run the model that reads the damaged table, with nothing of the table in memory."""
    jvm: Any = spark._jvm
    jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    return dbt("run", "-s", "damaged").message("damaged")
