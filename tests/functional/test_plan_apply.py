"""`plan` with `apply: true` runs what comes before the write; then dbt-spark can write the rows."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest

from tests.functional.operate import document, operate, succeeds
from tests.functional.support import dbt, needs_delta_4

WIDENS = "materialized='incremental', file_format='delta', on_schema_change='append_new_columns'"
MODELS = {
    "broken.sql": f"{{{{ config({WIDENS}, type_widening=true,\n"
    "tblproperties={'delta.checkpointInterval': var('interval', 10)}) }}\n"
    "select {{ var('id', '1Y') }} as id",
    "orders.sql": f"{{{{ config({WIDENS}, type_widening=true) }}}}\n"
    "select {{ var('id', '1Y') }} as id, {{ var('amount', '1.5BD') }} as amount",
    "sums.sql": f"{{{{ config({WIDENS}) }}}} select {{{{ var('sum', '1') }}}} as amount",
    "synced.sql": f"{{{{ config({WIDENS.replace('append_new', 'sync_all')}, type_widening=true, "
    "tblproperties={'delta.columnMapping.mode': 'name', 'delta.minReaderVersion': 2, "
    "'delta.minWriterVersion': 5}) }}\n"
    "select {{ var('id', '1Y') }} as id {% if not var('id', false) %}, 2 as gone {% endif %}",
    "fresh.sql": "{{ config(materialized='table', file_format='delta') }} select 1 as id",
    "reads.sql": f"{{{{ config({WIDENS}, type_widening=true) }}}} "
    "select id from {{ ref('fresh') }}",
    "refuses.sql": f"{{{{ config({WIDENS}) }}}} "
    "select id, {{ var('sum', '1') }} as amount from {{ ref('fresh') }}",
    "again.sql": f"{{{{ config({WIDENS}, full_refresh=true) }}}} "
    "select {{ var('sum', '1') }} as amount {% if is_incremental() %}, 1 as never {% endif %}",
    "of_again.sql": f"{{{{ config({WIDENS}) }}}} select amount from {{{{ ref('again') }}}}",
    "lost.sql": "{{ config(materialized='table', file_format='delta') }} "
    "select {{ var('lost', '1') }} as id",
    "period.sql": "{{ config(materialized='by_period', file_format='delta') }} "
    "select {{ var('sum', '1') }} as amount",
    "of_period.sql": f"{{{{ config({WIDENS}) }}}} select amount from {{{{ ref('period') }}}}",
    "later.sql": f"{{{{ config({WIDENS}) }}}} select 1 as id",
    "seen.sql": "{{ config(materialized='view') }} select 1 as id",
}
BY_PERIOD = """
{% materialization by_period, default %}
  {%- set relation = this.incorporate(type='table') -%}
  {%- call statement('main') -%} create table {{ relation }} using delta as {{ sql }}
  {%- endcall -%}
  {{ return({'relations': [relation]}) }}
{% endmaterialization %}
"""
WIDER = {
    "id": "300",
    "amount": "12345678.25BD",
    "sum": "1.5D",
    "interval": "none",
    "lost": "no_such_column",
}


@needs_delta_4
class TestPlanApply:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def macros(self):
        return {"by_period.sql": BY_PERIOD}

    @pytest.fixture(scope="class")
    def dbt_spark_target(self, spark_parameters):
        return {
            "method": "session",
            "host": "localhost",
            "server_side_parameters": spark_parameters,
        }

    @pytest.fixture(scope="class")
    def dbt_profile_data(self, dbt_profile_data, unique_schema, dbt_spark_target):
        old = {**dbt_spark_target, "type": "spark", "schema": unique_schema}
        dbt_profile_data["test"]["outputs"]["dev"] = old
        return dbt_profile_data

    def test_the_steps_before_the_write_are_run_and_dbt_spark_writes_the_rows(
        self, project, table, spark
    ):
        dbt("run", "--exclude", "later", "fresh", "seen", "reads", "refuses")
        made = f"create table {project.test_schema}."
        spark.sql(f"{made}reads using delta as select 1Y as id")
        spark.sql(f"{made}refuses using delta as select 1 as id, 1 as amount")
        before = {name: table(name).rows() for name in ("broken", "orders", "sums", "synced")}
        variables = ["--vars", str(WIDER)]
        found = document("plan", *variables, apply=True)
        by_name = {result["model"]: result for result in found["tables"]}
        assert by_name["orders"]["applied"]
        assert not by_name["orders"]["not_run"]
        assert table("orders").types == {"id": "int", "amount": "decimal(10,2)"}
        assert "widen_columns" in by_name["sums"]["error"]
        assert "checkpointInterval" in by_name["broken"]["error"]
        assert "widen_columns" in by_name["refuses"]["error"]
        assert by_name["again"]["reason"] == "each run makes it again"
        assert "widen_columns" in by_name["of_again"]["error"]
        assert by_name["of_period"]["reason"] == "nothing is left to do"
        unknown = {
            each["name"]: each["details"][0]
            for each in found["downstream"]
            if each["outcome"] == "not known"
        }
        assert "materialization by_period of the package test" in unknown.pop("period")
        assert "no_such_column" in unknown.pop("lost")
        assert not unknown
        assert found["failed"] == 4
        assert table("broken").types == {"id": "tinyint"}
        assert table("broken").version == 0
        assert table("sums").types == {"amount": "int"}
        assert "drop columns" in by_name["synced"]["not_run"][0]
        assert table("synced").types == {"id": "int", "gone": "int"}
        assert by_name["reads"]["reason"] == "it reads fresh, which is not built yet"
        assert by_name["later"]["reason"] == "it has no table"
        assert table("reads").version == 0
        assert {row.operation for row in table("orders").history[1:]} <= {
            "SET TBLPROPERTIES",
            "CHANGE COLUMNS",
            "CHANGE COLUMN",
        }
        versions = {name: table(name).version for name in before}
        again = document("plan", *variables, apply=True, models=["orders", "synced", "seen"])
        reasons = {result["model"]: result["reason"] for result in again["tables"]}
        nothing = "nothing is left to do"
        assert reasons == {"orders": nothing, "synced": nothing, "seen": "each run makes it again"}
        assert {name: table(name).version for name in before} == versions
        for name, rows in before.items():
            assert len(table(name).rows()) == len(rows)
        reached = document("plan", *variables, apply=True, models=["again"])
        by_name = {result["model"]: result for result in reached["tables"]}
        assert "widen_columns" in by_name["of_again"]["error"]
        assert reached["failed"] == 1
        markdown = operate("plan", *variables, apply=True, output="markdown")
        assert "4 refused" in markdown
        assert "### of\\_again: the run stops" in markdown
        run = dbt("run", "--target", "dev", "--select", "orders", **WIDER)
        assert "Registered adapter: spark=" in run.output
        assert run.status("orders") == "success"
        assert table("orders").rows() == [(1, Decimal("1.50")), (300, Decimal("12345678.25"))]
        assert table("orders").types == {"id": "int", "amount": "decimal(10,2)"}


@pytest.mark.slow
@pytest.mark.usefixtures("by_sql_alone")
class TestPlanApplyBySql(TestPlanApply):
    """On a Thrift server."""


FAILS = {
    "alone.sql": f"{{{{ config({WIDENS}, type_widening=true) }}}}\n"
    "select {{ var('id', '1Y') }} as id",
    "moments.sql": f"{{{{ config({WIDENS}, type_widening=var('widening', none),\n"
    "renamed_columns=var('renamed', {}), tblproperties={'delta.columnMapping.mode': 'name',\n"
    "'delta.enableDeletionVectors': true, 'delta.checkpointInterval': var('interval', 10)}) }}\n"
    "select explode(array(1, 2)) as id, {{ var('day', \"date'2024-01-01' as old\") }}",
}
WIDENED = {
    "id": "300",
    "day": "timestamp_ntz'2024-01-02 03:00:00' as new",
    "renamed": {"new": "old"},
    "interval": 20,
    "widening": True,
}


@pytest.mark.slow
@needs_delta_4
class TestAStatementFailsAfterOthers:
    """Before a date becomes a timestamp_ntz, a file is rewritten. Here, it is not there."""

    @pytest.fixture(scope="class")
    def models(self):
        return FAILS

    def test_what_must_not_stay_is_undone_and_a_second_call_finishes(self, project, table, spark):
        dbt("run")
        moments = table("moments")
        spark.sql(f"delete from {moments.name} where id = 2")
        (uri,) = spark.table(moments.name).inputFiles()
        file = Path(uri.removeprefix("file:"))
        kept = file.rename(file.with_suffix(".kept"))
        variables = ["--vars", str(WIDENED)]
        found = document("plan", *variables, apply=True)
        by_name = {result["model"]: result for result in found["tables"]}
        assert found["failed"] == 1
        assert by_name["alone"]["applied"]
        assert table("alone").types == {"id": "int"}
        assert file.name in by_name["moments"]["error"]
        # The model's own property stays. The rename and the property for type widening do not.
        tried = ["SET TBLPROPERTIES", "RENAME COLUMN"]
        undone = ["RENAME COLUMN", "UNSET TBLPROPERTIES"]
        assert moments.operations(since=1)[-4:] == [*tried, *undone]
        assert moments.types == {"id": "int", "old": "date"}
        assert moments.properties["delta.checkpointInterval"] == "20"
        assert "delta.enableTypeWidening" not in moments.properties
        assert not succeeds("plan", *variables, apply=True)
        kept.rename(file)
        again = document("plan", *variables, apply=True)
        applied = {result["model"]: len(result["applied"]) for result in again["tables"]}
        assert again["failed"] == 0
        assert applied == {"alone": 0, "moments": 4}
        assert moments.types == {"id": "int", "new": "timestamp_ntz"}
        assert moments.rows() == [(1, datetime(2024, 1, 1))]
        dbt("run", **WIDENED)
        written = datetime(2024, 1, 2, 3)
        assert moments.rows() == [(1, datetime(2024, 1, 1)), (1, written), (2, written)]
