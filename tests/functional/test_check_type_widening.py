"""`dbt run-operation check_type_widening`: CI shows the type changes of a deployment."""

import json

import pytest

from tests.functional.operate import document
from tests.functional.support import Table, dbt, needs_delta_4

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='{mode}', type_widening=true) }}}}
select 1 as id, cast(1 as {{{{ var('type', 'tinyint') }}}}) as amount
{{% if var('more', false) %}}, 'x' as more {{% endif %}}
"""

VERSIONS = """
{% snapshot versions %}
{{ config(unique_key='id', strategy='check', check_cols='all', type_widening=true) }}
select 1 as id, cast(1 as int) as amount
{% endsnapshot %}
"""


def check(**arguments: object):
    return dbt("--quiet", "run-operation", "check_type_widening", "--args", json.dumps(arguments))


class TestCheck:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "widens.sql": MODEL.format(mode="append_new_columns"),
            "fails.sql": MODEL.format(mode="fail"),
            "finance.sql": "{{ config(schema='finance') }}" + MODEL.format(mode="sync_all_columns"),
            "new.sql": MODEL.format(mode="append_new_columns"),
            "seen.sql": "{{ config(materialized='view') }} select 1 as id",
            "unread.sql": "{{ config(materialized='view') }} select 1 as id",
            "made.sql": "{{ config(materialized='table') }} select 1 as id",
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": VERSIONS}

    @pytest.fixture(scope="class")
    def deployed(self, project, spark):
        """The models in CI, and the deployed tables of their previous version."""
        ci = project.test_schema
        prod = f"{ci}prod"
        for schema in ("", "_finance"):
            spark.sql(f"create schema if not exists {prod}{schema}")
        for name in ("widens", "fails", "_finance.finance"):
            schema, _, table = name.rpartition(".")
            spark.sql(
                f"create table {prod}{schema}.{table} (id int, amount tinyint) using delta "
                "tblproperties ('delta.enableTypeWidening' = 'true')"
            )
        # An earlier version of a table, of a view, and of a snapshot.
        spark.sql(f"create table {prod}.made using delta as select 1 as id, 'x' as gone")
        spark.sql(f"create view {prod}.seen as select 1 as id, 'x' as gone")
        # One that can't be read now.
        spark.sql(f"create table {prod}.lost using delta as select 1 as id")
        spark.sql(f"create view {prod}.unread as select * from {prod}.lost")
        spark.sql(f"drop table {prod}.lost")
        spark.sql(
            f"create table {prod}.versions using delta tblproperties "
            "('delta.enableTypeWidening' = 'true') as select 1 as id, cast(1 as tinyint) as amount,"
            " '' as dbt_scd_id, now() as dbt_updated_at, now() as dbt_valid_from,"
            " now() as dbt_valid_to"
        )
        run = dbt("run", "--empty", type="int", more=True)
        assert {str(result.status) for result in run.results.values()} == {"success"}, run.output
        yield prod
        for schema in ("", "_finance"):
            spark.sql(f"drop schema {prod}{schema} cascade")

    def test_the_statements_that_will_run_are_shown_and_nothing_is_changed(self, deployed, spark):
        table = Table(spark, f"{deployed}.widens")
        before = table.version
        run = check(against=deployed, models=["widens", "finance", "new"], output="json")
        document = json.loads(run.output.strip().splitlines()[-1])
        assert document["failed"] == 0
        widens, finance, new = document["tables"]
        assert widens["statements"] == [
            f"alter table `{deployed}`.`widens` alter column `amount` type int",
            f"alter table `{deployed}`.`widens` add columns (`more` string)",
        ]
        assert finance["type_changes"] == [{"path": ["amount"], "from": "tinyint", "to": "int"}]
        assert new == {"table": "new", "model": "new", "new_table": True}
        assert table.version == before

    def test_what_is_no_incremental_model_is_judged_as_in_its_run(self, deployed):
        found = document(
            "check_type_widening", against=deployed, models=["made", "seen", "unread", "versions"]
        )
        assert found["failed"] == 0, found
        made, seen, unread, versions = found["tables"]
        assert made["statements"] == seen["statements"] == unread["statements"] == []
        assert versions["statements"] == [
            f"alter table `{deployed}`.`versions` alter column `amount` type int"
        ]

    def test_a_first_deployment_passes_and_a_missing_schema_fails(self, deployed):
        first = check(against=deployed, models=["new"], output="json")
        assert '"new_table": true' in first.output
        missing = f"{deployed}x"
        assert (
            f"check_type_widening: there is nothing to compare with: no schema {missing}, "
            f"{missing}_finance"
        ) in check(against=missing).output

    def test_a_refusal_is_named_and_ends_with_an_error(self, deployed, project):
        run = check(against=deployed)
        assert "check_type_widening: 1 of 4 nodes failed" in run.output
        assert "amount: tinyint -> int" in run.output
        assert "on_schema_change is fail" in run.output

    def test_a_model_that_is_not_built_is_named(self, deployed, project):
        project.run_sql("drop table if exists {schema}.widens")
        assert (
            "is not built in this target's schema"
            in check(against=deployed, models=["widens"]).output
        )

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({}, "`against` must name the schema"),
            ({"against": "x", "models": ["seem"]}, "no model, seed or snapshot named 'seem'"),
            (
                {"agains": "x"},
                "there is no argument agains; accepted: against, models, output, file",
            ),
        ],
    )
    def test_a_missing_object_is_named(self, project, arguments, expected):
        assert expected in check(**arguments).output


@needs_delta_4
class TestWhatReadsTheDeployedTables:
    @pytest.fixture(scope="class")
    def models(self):
        config = "{{ config(materialized='incremental', on_schema_change='append_new_columns') }}"
        types = "{{ var('type', 'tinyint') }}"
        return {
            "orders.sql": f"{config} select 1 as id, cast(1 as {types}) as amount",
            "totals.sql": config + " select amount from {{ ref('orders') }}",
            "ids.sql": config + " select id from {{ ref('orders') }}",
            "latest.sql": "select amount from {{ ref('orders') }}",
            "promised.sql": """
{{ config(materialized='table') }} select amount from {{ ref('orders') }}
""",
            "models.yml": """
models:
  - name: promised
    config: {contract: {enforced: "{{ var('contract', true) }}"}}
    columns: [{name: amount, data_type: tinyint}]
exposures:
  - {name: board, type: dashboard, owner: {name: x}, depends_on: [ref('totals')]}
  - {name: list, type: dashboard, owner: {name: x}, depends_on: [ref('ids')]}
""",
        }

    @pytest.fixture(scope="class")
    def deployed(self, project, spark):
        """A deployment of the models, and a build of the next ones in the schema of CI."""
        prod = f"{project.test_schema}live"
        spark.sql(f"create schema {prod}")
        properties = "tblproperties ('delta.enableTypeWidening' = 'true')"
        select = {"orders": "1 as id, 1Y as amount", "totals": "1Y as amount", "ids": "1 as id"}
        for name, columns in select.items():
            spark.sql(f"create table {prod}.{name} using delta {properties} as select {columns}")
        spark.sql(f"create table {prod}.promised using delta as select 1Y as amount")
        for name in ("latest", "report"):
            spark.sql(f"create view {prod}.{name} as select amount from {prod}.orders")
        run = dbt("run", "--empty", type="int", contract=False)
        assert {str(result.status) for result in run.results.values()} == {"success"}, run.output
        yield prod
        spark.sql(f"drop schema {prod} cascade")

    def test_everything_that_the_deployment_reaches_is_named(self, deployed):
        variables = json.dumps({"type": "int"})
        found = document(
            "check_type_widening", "--vars", variables, against=deployed, models=["orders"]
        )
        changed = {table["model"] for table in found["tables"] if table.get("type_changes")}
        assert changed == {"orders", "totals"}
        effects = {(e["kind"], e["name"], e["outcome"]) for e in found["downstream"]}
        assert effects == {
            ("view", "latest", "casts back until it is updated"),
            ("view", f"{deployed}.report", "casts back until it is updated"),
            ("contract", "promised", "no longer matches"),
            ("exposure", "board", "reads changed types"),
        }
