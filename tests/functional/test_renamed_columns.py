"""`renamed_columns`: what Delta has after a run, and what is refused before the first statement."""

import json
from typing import Any

import pytest

from tests.functional.operate import document
from tests.functional.support import Table, dbt, needs_delta_4

MAPPED = "{'delta.columnMapping.mode': 'name'}"
ORDERS = """
{{ config(materialized='incremental', incremental_strategy=var('strategy', 'merge'),
          unique_key='id', on_schema_change=var('mode', 'ignore'), type_widening=true,
          partition_by=['day'] if var('strategy', 'merge') == 'insert_overwrite' else none,
          incremental_predicates=var('predicates', none),
          tblproperties={'delta.columnMapping.mode': 'name'},
          renamed_columns=var('renamed', {}), event_time='at', begin='2026-01-01',
          batch_size='day', lookback=0) }}
select {{ var('id', 1) }} as id, cast({{ var('n', 1) }} as {{ var('type', 'smallint') }})
    as {{ var('amount', 'amt') }}, date'2026-01-01' as day, timestamp'2026-01-01 10:00:00' as at,
  named_struct('{{ var("zip", "postcode") }}', 'x') as {{ var('address', 'addr') }},
  array(named_struct('{{ var("qty", "quantity") }}', 3)) as items
{% if is_incremental() %} where 1 > (select count(orders.{{ var('amount', 'amt') }}) from {{ this }}
  where {{ var('address', 'addr') }}.{{ var('zip', 'postcode') }} = 'none') {% endif %}
"""
NEW = {"amount": "amount", "address": "address", "zip": "zip", "qty": "qty"}
RENAMED = {
    "amount": "amt",
    "address.zip": "postcode",
    "address": "addr",
    "items.element.qty": "quantity",
}
WIDER = {"id": 2, "n": 100000, "type": "int"}


def renames(table: Table) -> list[str]:
    """The renames in the table's history, each with who made it."""
    found = [row for row in table.history if row.operation == "RENAME COLUMN"]
    assert {json.loads(row.userMetadata)["changed_by"] for row in found} <= {"model.test.orders"}
    return [str(row.operationParameters["oldColumnPath"]) for row in found]


def stored(table: Table) -> list[tuple[Any, ...]]:
    return table.rows("id", "amount", "address.zip", "items[0].qty")


AGREED = """
{{ config(materialized='incremental', type_widening=var('total', none) is not none,
          contract={'enforced': var('total', none) is not none},
          on_schema_change='append_new_columns',
          tblproperties={'delta.columnMapping.mode': 'name'},
          renamed_columns={'total': 'amount'} if var('total', none) else {}) }}
{% if is_incremental() %} select max(total) as total from {{ this }} {% endif %}
{% if not is_incremental() %} select 1 as amount {% endif %}
"""
CONTRACT = """
models: [{name: agreed, columns: [{name: amount, data_type: int}]}]
"""


@needs_delta_4
class TestRename:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": ORDERS,
            "agreed.sql": AGREED,
            "agreed.yml": CONTRACT,
            "below.sql": "{{ config(materialized='view') }} select amt from {{ ref('orders') }}",
        }

    def test_the_table_is_renamed_and_widened_in_one_run_and_no_value_is_lost(self, project, table):
        assert dbt("run").status("orders") == "success"
        orders = table("orders")
        before = orders.version

        variables = {**NEW, **WIDER, "renamed": RENAMED, "mode": "append_new_columns"}
        forecast = document("plan", "--vars", json.dumps(variables))
        (planned,) = [each for each in forecast["tables"] if each["model"] == "orders"]
        assert planned["renamed"][0] == {"path": ["amount"], "from": ["amt"]}
        assert "rename column `amt` to `amount`" in planned["statements"][0]
        assert [effect["name"] for effect in forecast["downstream"]] == ["below"]
        assert orders.version == before

        old = {"predicates": ["DBT_INTERNAL_DEST.amt is not null"]}
        run = dbt("run", "--select", "orders", **variables, **old)
        assert (
            "incremental_predicates: got 'DBT_INTERNAL_DEST.amt is not null', with the old name"
            in (run.message("orders"))
        )
        assert orders.version == before

        run = dbt("run", "--select", "orders", **variables)
        assert run.status("orders") == "success", run.message("orders")
        assert renames(orders) == ["amt", "addr", "address.postcode", "items.element.quantity"]
        assert stored(orders) == [(1, 1, "x", 3), (2, 100000, "x", 3)]
        assert orders.types["amount"] == "int"
        assert run.response("orders")["renamed_columns"][0] == {"path": ["amount"], "from": ["amt"]}
        assert run.response("orders")["type_changes"][0]["path"] == ["amount"]
        assert "renamed amt -> amount, addr -> address" in run.output

        # Then the configuration changes nothing, and --full-refresh ignores it.
        after = orders.version
        run = dbt("run", "--select", "orders", **NEW, **WIDER, renamed=RENAMED)
        assert run.status("orders") == "success", run.message("orders")
        assert orders.operations(since=after) == ["MERGE"]
        assert not run.response("orders").get("renamed_columns")
        run = dbt("run", "--select", "orders", "--full-refresh", **NEW, **WIDER, renamed=RENAMED)
        assert run.status("orders") == "success", run.message("orders")

    def test_what_fails_after_it_and_before_the_write_takes_it_back(self, project, table):
        assert dbt("run", "--select", "agreed", "--full-refresh").status("agreed") == "success"
        agreed = table("agreed")
        before = agreed.version
        run = dbt("run", "--select", "agreed", total="total")
        assert "contract" in run.message("agreed")
        assert agreed.types == {"amount": "int"}
        assert agreed.operations(before) == ["RENAME COLUMN"] * 2
        assert "delta.enableTypeWidening" not in agreed.properties


PLAIN = """
{{ config(materialized='incremental', renamed_columns=var('renamed', {})) }}
select 1 as id, 'a' as {{ var('name', 'nme') }}
"""
VERSIONS = """
{% snapshot versions %}
{{ config(target_schema=target.schema, unique_key='id', strategy='check',
          check_cols=[var('name', 'nme')], renamed_columns=var('renamed', {}),
          tblproperties={'delta.columnMapping.mode': 'name'}) }}
select id, name as {{ var('name', 'nme') }}, 'é' as `a b`
from (values (1, 'a'), (2, '{{ var("second", "b") }}')) as t (id, name)
{% endsnapshot %}
"""


# Another run renames the column after dbt has compared the columns.
MEANWHILE = """
{% macro snapshot_check_strategy() %}
  {%- set strategy = dbt.snapshot_check_strategy(*varargs, **kwargs) -%}
  {%- set names = adapter.get_columns_in_relation(this) | map(attribute='name') | list -%}
  {%- if var('meanwhile', false) and 'name' in names -%}
    {% do run_query('alter table ' ~ this ~ ' rename column name to nme') %}
  {%- endif -%}
  {% do return(strategy) %}
{% endmacro %}
"""


class TestSnapshotsAndRefusals:
    @pytest.fixture(scope="class")
    def macros(self):
        return {"meanwhile.sql": MEANWHILE}

    @pytest.fixture(scope="class")
    def models(self):
        return {"plain.sql": PLAIN}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": VERSIONS}

    def test_a_renamed_column_of_a_snapshot_is_no_change_and_refusals_change_nothing(
        self, project, table, by_sql_alone
    ):
        first = dbt("build")
        assert {first.status(name) for name in ("plain", "versions")} == {"success"}
        plain, versions = table("plain"), table("versions")
        before = plain.version

        run = dbt("build", name="name", second="c", renamed={"name": "nme"})
        assert plain.version == before
        message = run.message("plain")
        assert "Why: the configuration renames this column to name, and Delta can" in message
        assert "set tblproperties ('delta.columnMapping.mode' = 'name')" in message
        assert run.status("versions") == "success", run.message("versions")
        kept = [(1, "a", True), (2, "b", False), (2, "c", True)]
        assert versions.rows("id", "name", "dbt_valid_to is null") == kept
        assert versions.operations(since=0).count("RENAME COLUMN") == 1

        back = {"renamed": {"nme": "name"}, "second": "c", "meanwhile": True}
        run = dbt("snapshot", **back)
        assert run.status("versions") == "success", run.message("versions")
        assert versions.rows("id", "nme", "dbt_valid_to is null") == kept


STRATEGIES = ("append", "merge", "insert_overwrite", "delete+insert", "microbatch", "replace_where")
BY_STRATEGY = """
{{ config(materialized='incremental', incremental_strategy='STRATEGY', unique_key='id',
          on_schema_change='sync_all_columns', type_widening=true,
          partition_by=['day'] if 'STRATEGY' == 'insert_overwrite' else none,
          predicates=["day = date'" ~ var('day') ~ "'"] if 'STRATEGY' == 'replace_where' else none,
          tblproperties={'delta.columnMapping.mode': 'name'}, renamed_columns=var('renamed', {}),
          event_time='at', begin='2026-01-01', batch_size='day', lookback=0) }}
select {{ var('id') }} as id, cast({{ var('n') }} as {{ var('type') }}) as {{ var('amount') }},
  date'{{ var("day") }}' as day, timestamp'{{ var("day") }} 10:00:00' as at
"""


@pytest.mark.slow
@needs_delta_4
class TestStrategies:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"by_{name.replace('+', '_')}.sql": BY_STRATEGY.replace("STRATEGY", name)
            for name in STRATEGIES
        }

    def test_each_strategy_renames_and_widens_by_sql_alone(self, project, table, by_sql_alone):
        def run(day: int, **variables: Any):
            limits = (
                "--event-time-start",
                f"2026-01-0{day}",
                "--event-time-end",
                f"2026-01-0{day + 1}",
            )
            return dbt("run", *limits, day=f"2026-01-0{day}", id=day, **variables)

        run(1, n=1, type="smallint", amount="amt")
        second = run(2, n=100000, type="int", amount="amount", renamed={"amount": "amt"})
        for strategy in STRATEGIES:
            name = f"by_{strategy.replace('+', '_')}"
            assert second.status(name) == "success", second.message(name)
            assert table(name).rows("id", "amount") == [(1, 1), (2, 100000)], name
            assert table(name).operations(since=0).count("RENAME COLUMN") == 1
            assert table(name).types["amount"] == "int"


@pytest.mark.slow
@needs_delta_4
class TestDeployment:
    @pytest.fixture(scope="class")
    def models(self):
        return {"orders.sql": ORDERS}

    def test_check_type_widening_shows_the_rename_and_the_run_then_makes_it(
        self, project, table, spark
    ):
        deployed = Table(spark, f"{project.test_schema}prod.orders")
        spark.sql(f"create schema {project.test_schema}prod")
        assert dbt("run").status("orders") == "success"
        spark.sql(f"create table {deployed.name} shallow clone {table('orders').name}")
        variables = {**NEW, **WIDER, "renamed": RENAMED, "mode": "append_new_columns"}
        again = dbt("run", "--full-refresh", **variables)
        assert again.status("orders") == "success", again.message("orders")
        before = deployed.version

        given = {"against": f"{project.test_schema}prod", "models": ["orders"]}
        checked = document("check_type_widening", "--vars", json.dumps(variables), **given)
        (found,) = checked["tables"]
        assert found["renamed"] == [
            {"path": ["amount"], "from": ["amt"]},
            {"path": ["address"], "from": ["addr"]},
            {"path": ["address", "zip"], "from": ["address", "postcode"]},
            {"path": ["items", "element", "qty"], "from": ["items", "element", "quantity"]},
        ]
        assert found["statements"][-1].endswith("alter column `amount` type int")
        assert deployed.version == before
        spark.sql(f"drop schema {project.test_schema}prod cascade")


@needs_delta_4
@pytest.mark.slow
class TestPerhapsRenamed:
    @pytest.fixture(scope="class")
    def models(self):
        config = "materialized='incremental', on_schema_change=var('mode', 'append_new_columns')"
        query = "select 1 as id, 'x' as {{ var('name') }}"
        return {"kept.sql": f"{{{{ config({config}) }}}} {query}"}

    def test_a_warning_has_the_line_to_write_before_anything_is_changed(self, project, table):
        dbt("run", name="old")
        kept = table("kept")
        before = kept.version
        stopped = dbt("--warn-error", "run", name="new")
        assert "set renamed_columns in the model before this run: {new: old}" in stopped.output
        for mode in ("fail", "sync_all_columns"):
            message = dbt("run", name="new", mode=mode).message("kept")
            assert "set renamed_columns in the model (new: old); if not, " in message
        assert kept.version == before
        assert dbt("run", name="new").status("kept") == "success"
        assert kept.rows("id", "old", "new") == [(1, "x", None), (1, None, "x")]
        assert "set renamed_columns" not in dbt("run", name="new").output
