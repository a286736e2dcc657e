"""Settings of a session that would change what a run stores."""

import pytest
from dbt_common.exceptions import DbtConfigError
from pyspark.sql import SparkSession

from tests.functional.support import dbt
from tests.small import settings_of

MERGED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
select 1 as id, {{ var('step') }} as n
{%- if var('step') == 2 %}, 5 as more, named_struct('x', 1) as s {% endif %}
"""
AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"


class TestSettings:
    @pytest.fixture(scope="class")
    def models(self):
        return {"merged.sql": MERGED}

    @pytest.fixture(scope="class")
    def created(self, project):
        dbt("run", step=1)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS"),
            ("spark.sql.caseSensitive", "true"),
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

    def test_do_not_let_a_merge_add_columns(self, created, project, table, spark: SparkSession):
        with settings_of(spark, {AUTO_MERGE: "true"}):
            run = dbt("run", step=2)
        assert "They are not stored" in run.output
        assert table("merged").types == {"id": "int", "n": "int"}
        assert table("merged").rows() == [(1, 2)]
