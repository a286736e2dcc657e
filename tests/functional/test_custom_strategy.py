"""An incremental strategy that a project has a macro for, as dbt documents it."""

import pytest

from tests.functional.support import dbt

STRATEGY = """
{% macro get_incremental_upsert_sql(arg_dict) %}
  {%- set columns = arg_dict['dest_columns'] | map(attribute='quoted') | join(', ') -%}
  merge into {{ arg_dict['target_relation'] }} as t using {{ arg_dict['temp_relation'] }} as s
  on t.{{ arg_dict['unique_key'] }} = s.{{ arg_dict['unique_key'] }}
    and {{ arg_dict['incremental_predicates'] | join(' and ') }}
  when matched then update set *
  when not matched then insert ({{ columns }}) values ({{ columns }})
{% endmacro %}
"""
MODEL = """
{{ config(
    materialized='incremental', incremental_strategy=var('strategy', 'upsert'), unique_key='id',
    on_schema_change='append_new_columns', type_widening=true, incremental_predicates=['t.id > 0']
) }}
{% if is_incremental() %}
select named_struct('b', 3000000000, 'a', 2) as s, 1 as id
union all select named_struct('b', 4, 'a', 3), 2
{% else %}
select 1 as id, named_struct('a', 1, 'b', 1) as s
{% endif %}
"""


class TestStrategyOfTheProject:
    @pytest.fixture(scope="class")
    def macros(self):
        return {"upsert.sql": STRATEGY}

    @pytest.fixture(scope="class")
    def models(self):
        return {"orders.sql": MODEL}

    def test_its_table_is_widened_first_and_no_fields_are_swapped(self, project, table):
        dbt("run")
        assert dbt("run").status("orders") == "success"
        orders = table("orders")
        assert orders.types["s"] == "struct<a:int,b:bigint>"
        assert orders.rows("id", "s.a", "s.b") == [(1, 2, 3000000000), (2, 3, 4)]

    @pytest.mark.parametrize(
        ("strategy", "expected"),
        [
            ("upsrt", "Invalid incremental strategy provided: upsrt"),
            ("delete_insert", "Invalid incremental strategy provided: delete_insert"),
        ],
    )
    def test_a_missing_strategy_is_named(self, project, strategy, expected):
        message = dbt("run", strategy=strategy).message("orders")
        assert expected in message
        assert "The configuration of model.test.orders is not valid." in message


EVERYTHING = """
{% macro get_incremental_everything_sql(arg_dict) %}
  insert into {{ arg_dict['target_relation'] }} select * from {{ arg_dict['temp_relation'] }}
{% endmacro %}
{% macro get_incremental_flagged_sql(arg_dict) %}
  {%- set columns = arg_dict['dest_columns'] | map(attribute='quoted') | join(', ') %}
  insert into {{ arg_dict['target_relation'] }} ({{ columns }})
  select {{ columns }} from {{ arg_dict['temp_relation'] }} where kept
{% endmacro %}
"""
CONFIG = "{{{{ config(materialized='incremental', incremental_strategy='{}', file_format='{}') }}}}"
REORDERED = CONFIG + "select 1 as id, {{% if is_incremental() %}} 3 as b, 2 as a"
REORDERED += "{{% else %}} 2 as a, 3 as b {{% endif %}}"
FLAGGED = CONFIG + "{{% if is_incremental() %}} select v, kept, n from values "
FLAGGED += "(1, true, {{{{ var('v') }}}}), (2, false, {{{{ var('v') }}}}) as t(n, kept, v)"
FLAGGED += "{{% else %}} select 0 as n, 0 as v {{% endif %}}"


class TestSourceOfAStrategyOfTheProject:
    @pytest.fixture(scope="class")
    def macros(self):
        return {"everything.sql": EVERYTHING}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "delta.sql": REORDERED.format("everything", "delta"),
            "parquet.sql": REORDERED.format("everything", "parquet"),
            "flagged.sql": FLAGGED.format("flagged", "delta"),
        }

    def test_has_the_columns_of_the_table_in_its_order_and_then_the_others(self, project, table):
        # A decimal has to be checked before it is written to an int.
        for v in ("0", "1", "2.0"):
            run = dbt("run", v=v)
        for name in ("delta", "parquet"):
            assert table(name).rows("id", "a", "b") == [(1, 2, 3)] * 3
        assert run.status("flagged") == "success", run.message("flagged")
        assert table("flagged").rows("n", "v") == [(0, 0), (1, 1), (1, 2)]


LISTED = """
{% macro get_incremental_listed_sql(arg_dict) %}
  {%- set rows = arg_dict['temp_relation'] -%}
  {%- set columns = adapter.get_columns_in_relation(rows) | map(attribute='quoted') | join(', ') %}
  insert into {{ arg_dict['target_relation'] }} ({{ columns }}) select {{ columns }} from {{ rows }}
{% endmacro %}
"""


class TestStrategyThatListsTheColumnsOfItsRows:
    @pytest.fixture(scope="class")
    def macros(self):
        return {"listed.sql": LISTED}

    @pytest.fixture(scope="class")
    def models(self):
        listed = CONFIG.format("listed", "delta")
        return {"listed.sql": listed + "select id, name from {{ target.schema }}.names"}

    def test_finds_them(self, project, table):
        project.run_sql("create table {schema}.names (id int, name varchar(9)) using parquet")
        project.run_sql("insert into {schema}.names values (1, 'first')")
        for _ in range(2):
            run = dbt("run")
            assert run.status("listed") == "success", run.message("listed")
        assert table("listed").rows("id", "name") == [(1, "first")] * 2


@pytest.mark.usefixtures("by_sql_alone")
class TestStrategyThatListsTheColumnsOfItsRowsBySql(TestStrategyThatListsTheColumnsOfItsRows):
    pass


class TestMacroOfTheProjectForAKnownStrategy:
    @pytest.fixture(scope="class")
    def macros(self):
        return {
            "own.sql": "{% macro get_incremental_replace_where_sql(arg_dict) %}"
            "insert into {{ arg_dict['target_relation'] }} select 7 as id"
            "{% endmacro %}"
        }

    @pytest.fixture(scope="class")
    def models(self):
        return {
            # The adapter's own strategy would need incremental_predicates.
            "own.sql": "{{ config(materialized='incremental', "
            "incremental_strategy='replace_where') }} "
            "select 1 as id"
        }

    def test_is_used_instead_of_the_adapters_own(self, project, table):
        dbt("run")
        run = dbt("run")
        assert run.status("own") == "success", run.message("own")
        assert table("own").rows() == [(1,), (7,)]
