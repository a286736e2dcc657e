"""A column of nulls has the type void until the model has a type for it."""

import pytest

from dbt.adapters.deltawiden.delta.engine import Capability
from tests.functional.support import dbt

NESTED = """
{% set later = {1: "", 2: ", 'b', null", 3: ", 'b', 'text'"}[var('step', 1)] %}
{{ config(materialized='incremental', on_schema_change='append_new_columns') }}
select {{ var('step', 1) }} as id,
  named_struct('value', named_struct('a', 1 {{ later }}),
    'c', named_struct('a', array(1) {{ later }})) as s
"""


class TestVoidColumn:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "nothing.sql": """
{{ config(materialized='incremental', on_schema_change='append_new_columns') }}
select {{ var('step', 1) }} as id
  {% if var('step', 1) == 2 %}, null as later {% endif %}
  {% if var('step', 1) == 3 %}, 'text' as later {% endif %}""",
            "nested.sql": NESTED,
        }

    def test_a_void_column_gets_the_type_that_the_model_has_later(self, project, engine, table):
        dbt("run")
        added = dbt("run", step=2)
        if not engine.can(Capability.TYPE_A_VOID_COLUMN):
            assert "null without a type" in added.message("nothing")
            assert table("nothing").types == {"id": "int"}
            return
        assert added.status("nothing") == "success", added.output
        # In a struct that has the name of a map's part, and in one that has an array beside it.
        assert added.status("nested") == "success", added.output
        run = dbt("run", step=3)
        assert {run.status(name) for name in ("nothing", "nested")} == {"success"}, run.output
        assert table("nested").rows("s.value.b", "s.c.b") == [("text",) * 2, *[(None,) * 2] * 2]
        assert table("nothing").types == {"id": "int", "later": "string"}
        assert table("nothing").rows() == [(1, None), (2, None), (3, "text")]
        assert "delta.feature.typeWidening" not in table("nothing").properties
