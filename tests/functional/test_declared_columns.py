"""Generated columns and default values that a contract declares: the table has them at once."""

import json
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from tests.functional.support import Table, dbt

MODEL = """
{{ config(materialized=var('materialized', 'incremental'), unique_key='id',
          incremental_strategy=var('strategy', 'append'), partition_by='day',
          incremental_predicates='id > 0' if var('strategy', '') == 'replace_where' else none,
          on_schema_change='append_new_columns', type_widening=true,
          persist_docs={'columns': true}) }}
select cast({{ var('id', 1) }} as {{ var('type', 'int') }}) as id,
  timestamp'2024-03-05 10:00:00' as `at`, date'{{ var('day', '2024-03-05') }}' as day,
  'x' as label, {{ var('size', 2) }} as `a.b`, {{ var('size', 2) }} * 2 as `dou``ble`
"""
CONTRACT = """
models:
  - name: orders
    config: {contract: {enforced: "{{ var('enforced', true) }}"}}
    constraints: [{type: check, expression: "id < 100"}]
    columns:
      - {name: id, data_type: "{{ var('type', 'int') }}", constraints: [{type: not_null}]}
      - {name: at, data_type: timestamp}
      - name: day
        data_type: date
        description: it's the day
        constraints: [{type: custom, expression: "GENERATED ALWAYS AS (cast(at as date))"}]
      - name: label
        data_type: string
        constraints:
          - {type: custom, expression: 'default "it''s new"'}
          - {type: check, expression: "label <> 'y'"}
      - {name: a.b, quote: true, data_type: int}
      - name: dou`ble
        quote: true
        data_type: int
        constraints:
          - {type: custom, expression: "{{ var('declared', 'generated always as (`a.b` * 2)') }}"}
"""
DECLARED = {
    "day": {"delta.generationExpression": "cast(at as date)"},
    "label": {"CURRENT_DEFAULT": '"it\'s new"'},
    "dou`ble": {"delta.generationExpression": "`a.b` * 2"},
}


def declared(table: Table) -> dict[str, dict[str, str]]:
    """Return what the table's newest schema declares of each column's values."""
    location = table.spark.sql(f"describe detail {table.quoted}").collect()[0].location
    log = Path(unquote(urlparse(location).path)) / "_delta_log"
    actions = [
        json.loads(line)
        for file in sorted(log.glob("*.json"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    schema = [action["metaData"]["schemaString"] for action in actions if "metaData" in action][-1]
    keys = ("delta.generationExpression", "CURRENT_DEFAULT")
    found = {
        column["name"]: {key: column["metadata"][key] for key in keys if key in column["metadata"]}
        for column in json.loads(schema)["fields"]
    }
    return {name: metadata for name, metadata in found.items() if metadata}


class TestDeclaredColumns:
    @pytest.fixture(scope="class")
    def models(self):
        return {"orders.sql": MODEL, "orders.yml": CONTRACT}

    @pytest.fixture(scope="class")
    def first(self, project):
        return dbt("run")

    @pytest.fixture
    def orders(self, first, table):
        return table("orders")

    def test_the_table_is_created_with_them_and_its_rows_in_one_commit(self, first, orders, spark):
        assert first.status("orders") == "success", first.message("orders")
        assert "constraint" not in first.output
        created = orders.history[0]
        assert created.operation == "CREATE OR REPLACE TABLE AS SELECT"
        assert created.operationMetrics["numOutputRows"] == "1"
        assert declared(orders) == DECLARED
        detail = spark.sql(f"describe detail {orders.name}").collect()[0]
        assert detail.partitionColumns == ["day"]
        # Other tests of the session have views of models of this name, too.
        views = [view.name for view in spark.catalog.listTables() if view.isTemporary]
        assert [name for name in views if name.startswith("orders__dbt_new")] == []

    def test_a_writer_that_leaves_them_out_gets_their_values(self, orders, spark):
        spark.sql(
            f"insert into {orders.name} (id, at, `a.b`) values (50, timestamp'2024-04-01', 5)"
        )
        rows = orders.rows("id", "cast(day as string)", "label", "`dou``ble`")
        assert rows == [(1, "2024-03-05", "x", 4), (50, "2024-04-01", "it's new", 10)]

    @pytest.mark.parametrize("strategy", ["append", "merge", "delete+insert", "replace_where"])
    def test_each_strategy_writes_them(self, orders, strategy):
        run = dbt("run", strategy=strategy, id=2, size=7)
        assert run.status("orders") == "success", run.message("orders")
        assert set(orders.rows("`a.b`", "`dou``ble`")) >= {(7, 14)}
        assert declared(orders) == DECLARED

    @pytest.mark.parametrize("options", [[], ["--full-refresh"]])
    def test_another_value_than_that_of_the_expression_is_not_stored(self, orders, options):
        before = orders.version
        run = dbt("run", *options, day="2024-03-06")
        assert run.status("orders") == "error"
        assert "Generated Column" in run.message("orders")
        assert orders.version == before

    def test_the_checks_of_the_contract_hold_in_the_query_for_the_table(self, orders):
        before = orders.version
        assert "id < 100" in dbt("run", "--full-refresh", id=100).message("orders")
        assert orders.version == before

    @pytest.mark.slow
    def test_a_full_refresh_and_a_table_keep_them(self, orders):
        before = orders.version
        for materialized in ("incremental", "table"):
            run = dbt("run", "--full-refresh", materialized=materialized)
            assert run.status("orders") == "success", run.message("orders")
            assert declared(orders) == DECLARED
        replaced = [op for op in orders.operations(before) if op != "CHANGE COLUMN"]
        assert replaced.count("CREATE OR REPLACE TABLE AS SELECT") == 2
        assert orders.rows("id", "`dou``ble`") == [(1, 4)]

    def test_without_an_enforced_contract_nothing_is_declared(self, orders):
        run = dbt("run", "--full-refresh", enforced=False)
        assert run.status("orders") == "success", run.message("orders")
        assert declared(orders) == {}


class TestWhatANewTableCanNotHave:
    @pytest.fixture(scope="class")
    def models(self):
        return {"orders.sql": MODEL, "orders.yml": CONTRACT}

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("generated always as identity", "is an identity column"),
            ("generated as (1)", "is not valid. Accepted: generated always as (expression)"),
        ],
    )
    def test_is_named_with_the_column_before_anything_runs(self, project, spark, text, expected):
        message = dbt("run", declared=text).message("orders")
        assert f"columns: dou`ble: '{text}' {expected}" in message
        assert not spark.catalog.tableExists(f"{project.test_schema}.orders")

    def test_what_delta_refuses_leaves_nothing_behind(self, project, spark):
        run = dbt("run", declared="generated always as (rand())")
        assert "DELTA_" in run.message("orders")
        assert not spark.catalog.tableExists(f"{project.test_schema}.orders")

    def test_sql_alone_can_not_declare_them(self, project, spark, by_sql_alone):
        message = dbt("run").message("orders")
        assert "columns: day: 'cast(at as date)' can't be declared on this connection" in message
        assert not spark.catalog.tableExists(f"{project.test_schema}.orders")
