"""Iceberg's JDBC catalog: what the hadoop catalog can, and views in it."""

import pytest

from tests.functional.support import dbt
from tests.servers.catalogs.test_catalogs import (  # noqa: F401
    TestCatalogOfTheProfile,
    TestSchemaWithCatalog,
    TestTwoCatalogs,
)


class TestWidening:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": "{{ config(materialized='incremental', file_format='iceberg', "
            "catalog='lake', on_schema_change='append_new_columns') }} "
            "select cast({{ var('n') }} as {{ var('type') }}) as n",
            "seen.sql": "{{ config(materialized='view', catalog='lake') }} "
            "select n from {{ ref('orders') }}",
        }

    def test_a_column_and_the_view_over_it_widen(self, project, spark):
        assert dbt("run", n=1, type="int").status("orders") == "success"
        run = dbt("run", n=2**40, type="bigint")
        assert {run.status("orders"), run.status("seen")} == {"success"}, run.output
        rows = spark.table(f"lake.{project.test_schema}.seen").orderBy("n").collect()
        assert rows == [(1,), (2**40,)]

    def test_another_change_is_refused(self, project, spark):
        run = dbt("run", n="'x'", type="string")
        assert run.status("orders") == "error"
        assert spark.table(f"lake.{project.test_schema}.orders").count() == 2
