"""Settings of a session that would change what a run stores."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtConfigError
from pyspark.sql import SparkSession

from dbt.adapters import deltawiden
from dbt.adapters.deltawiden.spark.unsafe_settings import REFUSED_SETTINGS
from tests.functional.every_setting import config_entries, names_of
from tests.functional.support import dbt, needs_delta_4
from tests.small import settings_of

MERGED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select 1 as id, {{ var('step') }} as n
{%- if var('step') == 2 %}, 5 as more, named_struct('x', 1) as s {% endif %}
"""
LOSSY = """
{{ config(materialized='incremental', on_lossy_write='ignore', type_widening=true) }}
select {{ 1.25 if var('step') == 1 else 1.2367 }} as amount
"""
# The source of this MERGE does not cast the columns that it does not update.
PARTLY = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          merge_update_columns=['n'], type_widening=true) }}
select {{ var('step') }} as id, 1 as n,
  cast(7 as {{ 'int' if var('step') == 1 else 'bigint' }}) as m
"""
AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"

READ_BEFORE = "spark.sql.legacy.parquet.datetimeRebaseModeInRead"
MILLIS = "spark.sql.parquet.outputTimestampType"
UTC_PARTITIONS = "spark.databricks.delta.write.utcTimestampPartitionValues"
COMMITTER = "mapreduce.fileoutputcommitter.algorithm.version"
TIMES = """
{{ config(materialized='incremental', pre_hook=var('hook', [])) }}
select timestamp'2024-01-01 00:00:00.123456' as at
"""
PYTHON = f"""
def model(dbt, session):
    session.conf.set('{MILLIS}', 'TIMESTAMP_MILLIS')
    return dbt.ref('times')
"""


def test_of_ours_have_no_other_names_in_spark_that_are_not_known(spark: SparkSession):
    code = Path(deltawiden.__file__).parent.rglob("*.py")
    known = {
        *(name for each in REFUSED_SETTINGS for name in each.names),
        *(name for f in code for name in re.findall(r"spark\.[\w.]+", f.read_text("utf-8"))),
    }
    names = [names_of(entry) for entry in config_entries(spark)]
    ours = [each for each in names if each[0] in known]
    assert ["spark.sql.parquet.datetimeRebaseModeInRead", READ_BEFORE] in ours
    assert {name for each in ours for name in each} <= known


class TestSettings:
    @pytest.fixture(scope="class")
    def models(self):
        return {"merged.sql": MERGED, "lossy.sql": LOSSY, "partly.sql": PARTLY}

    @pytest.fixture(scope="class")
    def created(self, project):
        dbt("run", step=1)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS"),
            ("spark.sql.caseSensitive", "true"),
            (READ_BEFORE, "LEGACY"),
            ("spark.sql.caseSensitive", " true "),
            (UTC_PARTITIONS, "false"),
            (f"spark.hadoop.{UTC_PARTITIONS}", "false"),
            ("spark.sql.jsonGenerator.writeNullIfWithDefaultValue", "false"),
            ("mapreduce.input.linerecordreader.line.maxlength", "100"),
        ],
    )
    def test_that_would_lose_values_stop_a_run_before_it_begins(
        self, created, project, table, spark: SparkSession, name, value
    ):
        version = table("merged").version
        with settings_of(spark, {name: value}), pytest.raises(DbtConfigError) as error:
            dbt("run", step=2)
        assert f"{name} is {value}: " in str(error.value)
        assert table("merged").version == version

    @needs_delta_4
    def test_do_not_let_delta_widen_a_column(self, created, project, table, spark: SparkSession):
        with settings_of(spark, {AUTO_MERGE: "true"}):
            run = dbt("run", "--select", "lossy", step=2)
        assert run.status("lossy") == "success"
        assert table("lossy").types == {"amount": "decimal(3,2)"}
        assert table("lossy").rows() == [(Decimal("1.24"),), (Decimal("1.25"),)]

    @needs_delta_4
    def test_do_not_let_a_merge_widen_what_it_does_not_update(
        self, created, project, table, spark: SparkSession
    ):
        with settings_of(spark, {AUTO_MERGE: "true"}):
            run = dbt("run", "--select", "partly", step=2)
        assert run.status("partly") == "success"
        assert table("partly").types == {"id": "int", "n": "int", "m": "int"}
        assert table("partly").rows() == [(1, 1, 7), (2, 1, 7)]

    def test_do_not_let_a_merge_add_columns(self, created, project, table, spark: SparkSession):
        with settings_of(spark, {AUTO_MERGE: "true"}):
            run = dbt("run", "--select", "merged", step=2)
        assert "They are not stored" in run.output
        assert table("merged").types == {"id": "int", "n": "int"}
        assert table("merged").rows() == [(1, 2)]


class TestSettingsThatTheProjectChanges:
    @pytest.fixture(scope="class")
    def models(self):
        return {"times.sql": TIMES, "later.py": PYTHON}

    def test_are_refused_before_a_statement_sets_them(self, project, table, spark: SparkSession):
        assert dbt("run", "-s", "times").status("times") == "success"
        for hook in (
            f"set {MILLIS}=TIMESTAMP_MILLIS",
            f"-- a hook\n/* of */ SET `{MILLIS}` = `timestamp_millis`;",
        ):
            run = dbt("run", "-s", "times", hook=[hook])
            assert f"`set {MILLIS}=" in run.message("times")
            assert "timestamps are stored without their microseconds" in run.message("times")
        assert spark.conf.get(MILLIS, None) is None
        assert table("times").version == 0

    def test_warn_if_a_statement_sets_one_of_filters(self, project, spark: SparkSession):
        name = "spark.sql.parquet.filterPushdown.decimal"
        with settings_of(spark, {name: "false"}):
            run = dbt("--debug", "run", "-s", "times", hook=[f"set {name}=true"])
        assert f"{name} is true, set by a statement" in run.output

    def test_are_unset_after_a_python_model(self, project, table, spark: SparkSession):
        run = dbt("run", "-s", "later")
        assert f"{MILLIS} is TIMESTAMP_MILLIS: " in run.message("later")
        assert spark.conf.get(MILLIS, None) is None
        assert not spark.catalog.tableExists(table("later").name)


OF_FILES = """
{{ config(materialized='incremental', file_format='parquet') }}
select case when id = 39999 then {{ 7.9 if var('step') == 2 else 7.0 }}D else double(id) end as v
from range(0, 40000, 1, 8)
"""


OF_DELTA = "{{ config(materialized='incremental') }} select 1 as id"


class TestTheSettingOfTablesOfFiles:
    @pytest.fixture(scope="class")
    def models(self):
        return {"files.sql": OF_FILES, "anew.sql": OF_FILES, "of_delta.sql": OF_DELTA}

    def test_is_refused_for_them_alone(self, project, table, spark: SparkSession):
        spark.sql(f"create table {table('files').name} (v int) using parquet")
        with settings_of(spark, {COMMITTER: "2"}):
            run = dbt("run", step=2)
        for name in ("files", "anew"):
            assert f"{COMMITTER} is 2: a write that stops leaves the rows" in run.message(name)
        assert run.status("of_delta") == "success", run.message("of_delta")
        assert table("files").rows() == []
        with settings_of(spark, {COMMITTER: "1"}):
            run = dbt("run", "-s", "files", step=2)
        assert "has the value 7.9 (double) for the column v" in run.message("files")
        spark.catalog.refreshTable(table("files").name)
        assert table("files").rows() == []
