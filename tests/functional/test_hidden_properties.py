"""Spark hides the values of table properties with a word such as url or token."""

import pytest

from tests.functional.support import dbt, needs_delta_4

pytestmark = pytest.mark.slow

CLUSTERED = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
          on_schema_change='append_new_columns', type_widening=true,
          liquid_clustered_by='page_url') }}
select cast({{ var('step') }} as {{ 'int' if var('step') == 1 else 'bigint' }}) as id,
  'x' as page_url
"""
CHECKED = """
{{ config(materialized='incremental', on_schema_change='sync_all_columns',
          tblproperties={'delta.columnMapping.mode': 'name', 'doc': 'https://url'}) }}
select 1 as id {% if var('step') == 1 %}, 'a' as token {% endif %}
"""


@needs_delta_4
class TestHiddenProperties:
    @pytest.fixture(scope="class")
    def models(self):
        return {"clustered.sql": CLUSTERED, "checked.sql": CHECKED}

    def test_a_table_is_clustered_by_a_column_with_such_a_name(self, project, table):
        dbt("run", "--select", "clustered", step=1)
        run = dbt("run", "--select", "clustered", step=2)
        assert run.status("clustered") == "success", run.output
        assert table("clustered").rows() == [(1, "x"), (2, "x")]
        # Nothing is set again: the clustering is as the configuration says.
        assert "CLUSTER BY" not in table("clustered").operations(0)

    def test_a_constraint_with_such_a_word_is_seen(self, project, table, spark):
        dbt("run", "--select", "checked", step=1)
        checked = table("checked")
        spark.sql(f"alter table {checked.name} add constraint c check (token <> '')")
        before = checked.version
        run = dbt("run", "--select", "checked", step=2)
        assert "token <> ''" in run.message("checked")
        assert checked.version == before
        again = dbt("run", "--select", "checked", step=1)
        assert again.status("checked") == "success"
        assert checked.operations(before) == ["WRITE"]
