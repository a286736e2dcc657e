"""A change after which Delta would refuse every write to the table is refused before it."""

import pytest

from dbt.adapters.deltawiden.delta.engine import Capability
from tests.functional.support import dbt

CONFIG = """{{ config(materialized='incremental', on_schema_change=var('mode'), type_widening=true,
    renamed_columns={'t': 's'} if this.name == 'renamed' and var('step', 1) == 2 else {},
    tblproperties={'delta.columnMapping.mode': 'name'}) }}
{% set step = var('step', 1) %}"""


class TestUnwritableTables:
    @pytest.fixture(scope="class")
    def models(self):
        changed = {
            "only_void.sql": """
select {{ step }}L as n {% if step == 2 %}, named_struct('note', null) as extra {% endif %}""",
            "empty.sql": """
select {{ step }}L as n {% if step == 2 %}, named_struct() as extra {% endif %}""",
            "void_is_left.sql": """
select {{ step }} as n, named_struct({% if step == 1 %} 'a', 1, {% endif %} 'b', null) as s""",
            "texts.sql": """
select {{ step }} as n, named_struct({% if step == 1 %} 'a', 1, {% endif %} 'v', 'text') as s""",
            "renamed.sql": """
select {{ step }} as n,
  named_struct({% if step == 1 %} 'a', 1, {% endif %} 'v', 'text') as
  {% if step == 1 %} s {% else %} t {% endif %}""",
        }
        return {name: CONFIG + query for name, query in changed.items()}

    def test_are_not_made(self, project, engine, spark, table):
        if not engine.can(Capability.TYPE_A_VOID_COLUMN):
            pytest.skip("This version of Delta adds no column without a type.")
        for name in ("texts", "renamed"):
            spark.sql(f"""create table {project.test_schema}.{name} (
                n int, s struct<a: int, v: varchar(5)>) using delta
                tblproperties ('delta.columnMapping.mode' = 'name')""")
        dbt("run", mode="append_new_columns")
        names = ("only_void", "empty", "void_is_left", "texts", "renamed")
        before = {name: (table(name).version, table(name).rows()) for name in names}
        run = dbt("run", mode="sync_all_columns", step=2)
        for name in ("only_void", "empty", "void_is_left"):
            assert "would have no field with a type" in run.message(name)
        for name in ("texts", "renamed"):
            assert "stands before one in its struct" in run.message(name)
        assert {name: (table(name).version, table(name).rows()) for name in names} == before
