"""A materialization of the project: a warning says that its values are not checked."""

from pathlib import Path

import pytest

from tests.functional.operate import operate
from tests.functional.support import dbt

BY_PERIOD = """
{% materialization by_period, default %}
  {%- set relation = this.incorporate(type='table') -%}
  {%- call statement('main') -%}
    {%- if load_relation(this) is none -%} create table {{ relation }} using delta as {{ sql }}
    {%- else -%} insert into {{ relation }} {{ sql }} {%- endif -%}
  {%- endcall -%}
  {{ return({'relations': [relation]}) }}
{% endmaterialization %}
"""
VIEW = """
{% materialization view, adapter='deltawiden' %}
  {% do log('the view of the project', info=True) %}
  {{ return({'relations': []}) }}
{% endmaterialization %}
"""
MODEL = """
{{ config(materialized='MATERIALIZED', CONFIG) }}
{% if var('step') == 1 %} select cast(1 as decimal(8,2)) as v
{% else %} select cast(1.2367 as decimal(10,4)) as v {% endif %}
"""
UNCHECKED = "dbt-deltawiden does not check these values"


def model(materialized: str = "by_period", config: str = "") -> str:
    return MODEL.replace("MATERIALIZED", materialized).replace("CONFIG", config)


def values(table) -> list[tuple[str]]:
    return table.rows("cast(v as string)")


class TestMaterializationOfTheProject:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "first.sql": model(),
            "second.sql": model(),
            "accepted.sql": model(config="on_lossy_write='ignore'"),
            "strict.sql": model(config="store_assignment_policy='strict'"),
            "built_in.sql": model("incremental"),
            "seen.sql": model("view"),
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"by_period.sql": BY_PERIOD + VIEW}

    @pytest.fixture(autouse=True)
    def _first(self, project, table):
        for name in ("first", "second", "accepted", "strict"):
            table(name).spark.sql(f"drop table if exists {table(name).name}")
        self.run = dbt("run", "--full-refresh", step=1)

    def test_is_named_once_a_run(self):
        assert self.run.output.count(UNCHECKED) == 1
        named = "its rows are written by the materialization by_period of the package test"
        assert named in " ".join(self.run.output.split())
        run = dbt("run", "--select", "accepted", "strict", "built_in", step=1)
        assert UNCHECKED not in run.output

    def test_of_a_view_is_used_for_a_clone_that_is_a_view(self, tmp_path):
        (tmp_path / "manifest.json").write_bytes(Path("target/manifest.json").read_bytes())
        run = dbt("clone", "--select", "seen", "--state", str(tmp_path), step=1)
        assert "the view of the project" in run.output

    def test_stops_before_it_writes_if_warnings_are_errors(self, table):
        run = dbt("--warn-error", "run", step=2)
        for name in ("first", "second"):
            assert UNCHECKED in run.message(name)
            assert values(table(name)) == [("1.00",)]
        assert run.status("accepted") == "success", run.message("accepted")

    def test_under_the_strict_policy_spark_refuses_what_is_wider(self, table):
        run = dbt("run", step=2)
        assert values(table("accepted")) == [("1.00",), ("1.24",)]
        assert run.status("strict") == "error"
        assert "CAST" in run.message("strict") or "INCOMPATIBLE" in run.message("strict")
        assert values(table("strict")) == [("1.00",)]

    @pytest.mark.usefixtures("by_sql_alone")
    def test_the_policy_is_for_its_own_node_with_sql_alone(self, table):
        run = dbt("run", "--threads", "1", "--select", "strict", "first", step=2)
        assert run.status("strict") == "error"
        assert values(table("strict")) == [("1.00",)]
        assert run.status("first") == "success", run.message("first")


OWN = """
{% materialization incremental, adapter='deltawiden' %}
  {{ return(materialization_by_period_default()) }}
{% endmaterialization %}
"""
# As with dbt-spark. The one of a snapshot goes on with the built-in one.
OWN_OF_SPARK = """
{% materialization table, adapter='spark' %}
  {{ return(materialization_by_period_default()) }}
{% endmaterialization %}
{% materialization snapshot, adapter='spark' %}
  {% do log('the snapshot of the project', info=True) %}
  {{ return(materialization_snapshot_deltawiden()) }}
{% endmaterialization %}
{% macro get_insert_into_sql(source, target) %}insert into t select 1{% endmacro %}
{% materialization clone, adapter='spark' %}
  {% do log('the clone of the project', info=True) %}
  {{ return({'relations': []}) }}
{% endmaterialization %}
"""
PYTHON = """
def model(dbt, spark):
    dbt.config(materialized='table')
    return spark.sql('select 7 as id')
"""
VERSIONS = """
{% snapshot versions %}
{{ config(unique_key='id', strategy='check', check_cols=['id']) }} select 1 as id
{% endsnapshot %}
"""


class TestIncrementalMaterializationOfTheProject:
    @pytest.fixture(scope="class")
    def models(self):
        whole = {"whole.sql": model("table"), "frame.py": PYTHON}
        return {"orders.sql": model("incremental"), **whole}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": VERSIONS}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"by_period.sql": BY_PERIOD + OWN, "of_spark.sql": OWN_OF_SPARK}

    def test_is_named(self, project):
        run = dbt("run", "--select", "orders", step=1)
        assert run.status("orders") == "success", run.message("orders")
        assert "the materialization incremental of the package test" in " ".join(run.output.split())

    def test_for_spark_is_used_and_named(self, table):
        for _ in range(2):
            run = dbt("run", "--select", "whole", step=1)
            assert run.status("whole") == "success", run.message("whole")
            assert "the materialization table of the package test" in " ".join(run.output.split())
        assert values(table("whole")) == [("1.00",), ("1.00",)]
        found = operate("check_project")
        assert "the materialization table of the package test" in " ".join(found.split())
        assert "get_insert_into_sql" not in found  # A materialization of the project can call it.

    def test_for_spark_is_not_used_for_a_python_model(self, table):
        """dbt runs Python only for the materialization that it calls itself."""
        run = dbt("run", "--select", "frame", step=1)
        assert run.status("frame") == "success", run.message("frame")
        assert table("frame").rows() == [(7,)]
        assert UNCHECKED not in run.output

    def test_for_spark_is_used_for_snapshots_and_clones(self, table, tmp_path):
        run = dbt("snapshot", step=1)
        assert run.status("versions") == "success", run.message("versions")
        assert run.output.count("the snapshot of the project") == 1
        assert table("versions").rows("id") == [(1,)]
        manifest = Path("target/manifest.json").read_bytes()
        (tmp_path / "manifest.json").write_bytes(manifest)
        run = dbt("clone", "--state", str(tmp_path), step=1)
        assert "the clone of the project" in run.output


class TestWrongPolicy:
    @pytest.fixture(scope="class")
    def models(self):
        return {"wrong.sql": model("incremental", "store_assignment_policy='legacy'")}

    def test_is_refused(self, project):
        message = dbt("run", step=1).message("wrong")
        assert "store_assignment_policy: got 'legacy'; accepted: strict" in message
