"""A partition column stores each value as it is, or the run stops."""

import pytest

from tests.functional.support import dbt, needs_delta_4

CONFIG = {
    "append": "incremental_strategy='append'",
    "merge": "incremental_strategy='merge', unique_key='id'",
    "overwrite": "incremental_strategy='insert_overwrite'",
    "follows": "incremental_strategy='append', on_schema_change='append_new_columns'",
    "as_parquet": "incremental_strategy='append', file_format='parquet'",
    "accepts": "incremental_strategy='append', on_lossy_write='ignore'",
}
INCREMENTAL = """
{{{{ config(materialized='incremental', partition_by=['p', 'at'], {config}) }}}}
select 1 as id, {{{{ "'a'" if var('step') == 1 else var('value') }}}} as p,
  {{{{ var('at', "timestamp'2024-11-03 05:30:00Z'") }}}} as at
"""
TABLE = """
{{ config(materialized='table', partition_by='P') }}
-- The query ends in comments and a semicolon.
select 1 as id, {{ var('value', "'a'") }} as p -- here
; -- and here
"""
SNAPSHOT = """
{% snapshot snapped %}
{{ config(unique_key='id', strategy='check', check_cols='all', partition_by='p') }}
select 1 as id, {{ var('value', "'a'") }} as p
{% endsnapshot %}
"""
PYTHON = """
def model(dbt, session):
    dbt.config(materialized='table', partition_by='p')
    return session.sql("select 1 as id, cast('' as string) as p")
"""
WIDE = """
{{ config(materialized='table', partition_by='p') }}
select '' as p, named_struct({% for i in range(40) %}'f{{ i }}', {{ i }},{% endfor %} 'z', 0) as s
-- here
"""
NULL_TEXT = "'__HIVE_DEFAULT_PARTITION__'"


class TestPartitionColumns:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": INCREMENTAL.format(config=c) for name, c in CONFIG.items()}
        return {**models, "as_table.sql": TABLE}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapped.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def stored(self, project):
        run = dbt("build", step=1)
        assert {run.status(name) for name in [*CONFIG, "as_table", "snapped"]} == {"success"}

    @pytest.mark.parametrize("value", ["''", NULL_TEXT])
    def test_a_text_that_would_be_null_stops_the_run(self, stored, table, value):
        before = {name: table(name).rows("id", "p") for name in [*CONFIG, "as_table", "snapped"]}
        run = dbt("build", step=2, value=value)
        for name in before.keys() - {"accepts"}:
            assert run.status(name) == "error", name
            shown = value.strip("'")
            assert f"The model {name} has the value '{shown}' (string)" in run.message(name)
            assert "for the column p of" in run.message(name)
            assert "Select another value for it, such as null" in run.message(name)
            assert table(name).rows("id", "p") == before[name]
        assert run.status("accepts") == "success"
        kept = [p for _, p in before["accepts"]]
        assert sorted(p for (p,) in table("accepts").rows("p") if p) == [p for p in kept if p]
        assert len(table("accepts").rows("p")) == len(kept) + 1

    def test_a_timestamp_in_the_second_of_two_equal_hours_stops_the_run(self, stored, table):
        selected = ("--select", "append", "merge", "follows")
        run = dbt("run", *selected, step=2, value="'b'", at="timestamp'2024-11-03 06:30:00Z'")
        for name in selected[1:]:
            assert run.status(name) == "error"
            assert "for the column at of" in run.message(name)

    def test_null_and_other_texts_are_stored(self, stored, table):
        run = dbt("run", "--select", "append", step=2, value="cast(null as string)")
        assert run.status("append") == "success"
        run = dbt("run", "--select", "append", "as_table", step=2, value="' '")
        assert [run.status(name) for name in ("append", "as_table")] == ["success", "success"]
        assert {p for (p,) in table("append").rows("p")} == {None, " ", "a"}
        assert table("as_table").rows("p") == [(" ",)]


class TestPythonModels:
    @pytest.fixture(scope="class")
    def models(self):
        return {"of_python.py": PYTHON}

    @needs_delta_4
    def test_are_checked_when_the_table_is_made(self, project):
        run = dbt("run")
        assert "The model of_python has the value '' (string)" in run.message("of_python")


class TestAWideStructInAQueryThatEndsInAComment:
    @pytest.fixture(scope="class")
    def models(self):
        return {"wide.sql": WIDE}

    @pytest.mark.usefixtures("by_sql_alone")
    def test_is_checked_by_sql_alone(self, project):
        assert "The model wide has the value '' (string)" in dbt("run").message("wide")
