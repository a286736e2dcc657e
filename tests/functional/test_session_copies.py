"""Statements that run in a copy of the session, with another setting, mean the same there."""

from importlib.metadata import version

import pytest
from pyspark.sql import SparkSession

from tests.functional.support import dbt
from tests.small import settings_of

OVERWRITES = """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='part',
          pre_hook='declare or replace variable session_copy int default ' ~ var('step')) }}
select 1 as part, session_copy as n
"""
CATALOG = "spark.sql.catalog.elsewhere"
ELSEWHERE = {
    CATALOG: "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    f"{CATALOG}.url": "jdbc:derby:memory:elsewhere;create=true",
    f"{CATALOG}.driver": "org.apache.derby.jdbc.EmbeddedDriver",
}


class TestCopies:
    @pytest.fixture(scope="class")
    def models(self):
        return {"overwrites.sql": OVERWRITES}

    @pytest.mark.skipif(version("pyspark") < "4", reason="Spark 3.5 has no variables")
    def test_have_the_variables_of_a_hook(self, project, table, spark: SparkSession):
        for step in (1, 2, 3):
            run = dbt("run", step=step)
            assert run.status("overwrites") == "success", run.message("overwrites")
            assert table("overwrites").rows() == [(1, step)]
        spark.sql("drop temporary variable session_copy")

    def test_have_the_current_catalog(self, project, spark: SparkSession):
        current = "select current_catalog(), current_schema()"
        with settings_of(spark, ELSEWHERE), project.adapter.connection_named("copied"):
            spark.sql("use elsewhere.`APP`")
            handle = project.adapter._handle()
            try:
                with handle.with_setting("spark.sql.session.timeZone", "UTC"):
                    handle.execute(current)
                    assert [tuple(row) for row in handle.fetchall()] == [("elsewhere", "APP")]
            finally:
                spark.sql("use spark_catalog.default")
