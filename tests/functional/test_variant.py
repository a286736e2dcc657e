"""Variant columns: Delta stores them since 4.0, and Spark casts each atomic type to them."""

import pytest

from tests.functional.support import dbt, needs_delta_4

MODEL = """
{{ config(materialized='incremental', incremental_strategy=var('strategy', 'append'),
          unique_key='id', on_schema_change='append_new_columns', type_widening=true) }}
select {{ var('id', 1) }} as id, {{ var('v', "parse_json('{\\"a\\": 1.25}')") }} as v,
  cast({{ var('n', 1) }} as {{ var('type', 'int') }}) as n,
  named_struct('v', parse_json('[1, null, "x"]'), 'n', cast(1 as {{ var('type', 'int') }})) as s
  {%- if var('more', false) %}, parse_json('true') as added {% endif %}
"""
TEXTS = ("to_json(v)", "to_json(s.v)")


@needs_delta_4
class TestVariant:
    @pytest.fixture(scope="class")
    def models(self):
        return {"m.sql": MODEL}

    def test_is_written_and_kept_beside_columns_that_widen(self, project, table):
        dbt("run", "--select", "m", n=1)
        dbt("run", "--select", "m", id=2, type="bigint", n=2**40, more=True)
        assert table("m").types["n"] == "bigint"
        assert table("m").types["added"] == "variant"
        assert table("m").rows("id", *TEXTS, "n", "to_json(added)") == [
            (1, '{"a":1.25}', '[1,null,"x"]', 1, None),
            (2, '{"a":1.25}', '[1,null,"x"]', 2**40, "true"),
        ]

    @pytest.mark.slow
    def test_is_merged(self, project, table):
        dbt("run", "--select", "m", "--full-refresh")
        dbt("run", "--select", "m", strategy="merge", v="parse_json('null')", type="bigint")
        assert table("m").rows("id", *TEXTS) == [(1, "null", '[1,null,"x"]')]

    @pytest.mark.slow
    def test_a_number_in_a_variant_column_is_the_same_number(self, project, table):
        dbt("run", "--select", "m", "--full-refresh")
        dbt("run", "--select", "m", id=2, v="cast(1.2367 as decimal(10, 4))")
        assert table("m").rows("id", TEXTS[0]) == [(1, '{"a":1.25}'), (2, "1.2367")]

    def test_a_variant_in_a_column_of_numbers_stops_the_run(self, project, table):
        dbt("run", "--select", "m", "--full-refresh", v="1")
        before = table("m").version
        run = dbt("run", "--select", "m", v="parse_json('7.9')")
        assert run.status("m") == "error"
        assert "v: int -> variant" in run.message("m")
        assert table("m").version == before
