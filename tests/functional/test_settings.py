"""Settings of a session that would change what a run stores."""

from decimal import Decimal

import pytest
from dbt_common.exceptions import DbtConfigError
from pyspark.sql import SparkSession

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
