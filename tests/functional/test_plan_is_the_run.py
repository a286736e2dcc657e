"""What a run refuses, the plan before it refuses, and a plan refuses nothing else."""

import json

import pytest

from tests.functional.operate import document
from tests.functional.support import dbt, needs_delta_4

CONFIG = "materialized='incremental', on_schema_change='append_new_columns', type_widening=true"
BATCHES = "incremental_strategy='microbatch', begin='2026-01-01', batch_size"
OUTPUT = "select 1 as id, cast(5000000000 as bigint) as amount, 'new' as added"
EVENT = f"{OUTPUT}, '2026-05-01' as at"


def model(query: str = OUTPUT, config: str = "") -> str:
    return f"{{{{ config({CONFIG}, {config}) }}}} {query}"


JOINED = "select * from {{ ref('new_view') }} join {{ ref('other_new') }} using (id)"
MODELS = {
    "undeclared.sql": model("select 1 as id, 'x' as added"),
    "other_case.sql": model("select 1 as id"),
    "new.sql": model("select 1 as id, 'x' as added"),
    "made_again.sql": "{{ config(materialized='table') }} select 1 as id, 'x' as added",
    "misspelt.sql": model(config="incremental_strategy='mrege'"),
    "capital.sql": model(config="incremental_strategy='Merge'"),
    "no_time.sql": model(EVENT, f"{BATCHES}='year', event_time='att'"),
    "no_moment.sql": model(EVENT, f"{BATCHES}='year', event_time='at'"),
    "by_hour.sql": model(f"{OUTPUT}, date'2026-05-01' as at", f"{BATCHES}='hour', event_time='at'"),
    "was_a_view.sql": model("select 'x' as id"),
    "reads_it.sql": model("select id from {{ ref('was_a_view') }}"),
    "new_view.sql": "{{ config(materialized='view') }} select 1 as id, 'x' as added",
    "reads_new_view.sql": model("select * from {{ ref('new_view') }}"),
    "other_new.sql": "{{ config(materialized='view') }} select 1 as id",
    "joined.sql": f"{{{{ config(materialized='view') }}}} {JOINED}",
    "joins.sql": model(JOINED),
    "new_python.py": """
def model(dbt, spark):
    dbt.config(materialized='incremental')
    return spark.sql("select 1 as id, 'x' as added")
""",
    "reads_python.sql": model("select * from {{ ref('new_python') }}"),
    "renamed.sql": model(
        "select 1 as first, 2 as last", "pre_hook='create table {{ schema }}.hooked (id int)'"
    ),
    "renamed_again.sql": "{{ config(materialized='table') }} select 1 as first, 2 as last",
}
SCHEMA = """
models:
  - name: undeclared
    config: {contract: {enforced: true}}
    columns: [{name: id, data_type: int}]
  - &undeclared
    name: new
    config: {contract: {enforced: true}}
    columns: [{name: id, data_type: int}]
  - {<<: *undeclared, name: made_again}
  - name: other_case
    config: {contract: {enforced: true}}
    columns: [{name: ID, data_type: int}]
  - &renamed
    name: renamed
    columns: [{name: first, meta: &was {renamed_from: name}}, {name: last, meta: *was}]
  - {<<: *renamed, name: renamed_again}
"""
SNAPSHOT = """
{% snapshot versions %}
{{ config(unique_key='id', strategy='check', check_cols=['n'], updated_at='at',
          type_widening=true) }}
select 1 as id, {{ var('n', 1) }} as n, cast({{ var('n', 1) }} as {{ var('type', 'int') }}) as at
{% endsnapshot %}
{% snapshot ended %}
{{ config(unique_key='id', strategy='timestamp', updated_at='at',
          dbt_valid_to_current=var('end', none)) }}
select 1 as id, timestamp_ntz'2024-03-10 02:30:00' as at
{% endsnapshot %}
"""
# A run does not add the column of an event_time.
OF_TABLE = {"no_moment": ", '2026-04-01' as at", "by_hour": ", date'2026-04-01' as at"}
LATER = {"type": "bigint", "n": 2, "end": "to_timestamp('9999-12-31')"}
REFUSED = {
    "undeclared": "added: no such column in the contract, string in the query",
    "other_case": "ID: int in the contract, no such column in the query",
    "misspelt": "Invalid incremental strategy provided: mrege",
    "capital": "Invalid incremental strategy provided: Merge",
    "no_time": "event_time: the table has no column att",
    "no_moment": "event_time: the column at is of type string",
    "by_hour": "event_time: the column at is a date, which has no time of day",
}


@needs_delta_4
class TestPlanIsTheRun:
    @pytest.fixture(scope="class")
    def models(self):
        return {**MODELS, "schema.yml": SCHEMA}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def planned(self, project, spark):
        """The plan of each model, before anything is run."""
        for name in (*REFUSED, "reads_it", "reads_new_view", "reads_python", "joins"):
            spark.sql(
                f"create table {project.test_schema}.{name} using delta as "
                f"select 1 as id, cast(1 as int) as amount{OF_TABLE.get(name, '')}"
            )
        spark.sql(f"create view {project.test_schema}.was_a_view as select 1 as id")
        dbt("snapshot")
        found = document("plan", "--vars", json.dumps(LATER))["tables"]
        asked = ["new_view", "reads_new_view", "renamed_again", "ended"]
        found += document("plan", "--vars", json.dumps(LATER), models=asked)["tables"]
        alone = document("plan", "--vars", json.dumps(LATER), models=["new_view"])
        return {"alone": alone, **{each["model"]: each for each in found}}

    @pytest.fixture(scope="class")
    def run(self, planned):
        return dbt("build", **LATER)

    @pytest.mark.parametrize("name", REFUSED)
    def test_what_the_run_refuses_is_refused_and_no_table_is_changed(
        self, planned, run, table, name: str
    ):
        assert run.status(name) == "error"
        assert table(name).version == 0, table(name).history
        assert REFUSED[name] in planned[name].get("error", ""), planned[name]

    def test_the_contract_of_a_table_that_is_made_is_checked(self, planned, run):
        assert run.status("new") == run.status("made_again") == "error"
        assert REFUSED["undeclared"] in planned["new"].get("error", ""), planned["new"]
        (found,) = document("plan", models="made_again")["tables"]
        assert REFUSED["undeclared"] in found.get("error", ""), found

    def test_a_model_that_was_a_view_is_made_again(self, planned, run, table):
        assert run.status("was_a_view") == "success", run.message("was_a_view")
        assert table("was_a_view").types == {"id": "string"}
        assert planned["was_a_view"].get("error") is None, planned["was_a_view"]
        assert planned["was_a_view"]["statements"] == []
        # It reads the new type.
        assert "string" in run.message("reads_it")
        assert "string" in planned["reads_it"]["error"]

    def test_a_new_view_that_is_asked_for_has_its_columns_for_what_reads_it(
        self, planned, run, table
    ):
        assert planned["reads_new_view"].get("error") is None, planned["reads_new_view"]
        assert planned["reads_new_view"]["new"] == [["added"]]
        assert table("reads_new_view").rows("id", "added") == [(1, "x"), (1, None)]

    def test_what_else_a_reached_model_reads_need_not_be_built(self, planned):
        assert planned["alone"]["failed"] == 0, planned["alone"]
        (effect,) = planned["alone"]["downstream"]
        assert (effect["name"], effect["outcome"]) == ("joins", "not known")
        assert "it reads other_new, which is new" in str(effect)

    def test_what_reads_a_new_model_without_a_known_query_is_not_known(self, planned, run, table):
        assert planned["new_python"]["new_table"] is True
        error = planned["reads_python"].get("error", "")
        assert "it reads new_python, which is new, and whose columns" in error, error
        assert table("reads_python").rows("id", "added") == [(1, "x"), (1, None)]

    def test_renames_are_those_of_models_that_keep_their_tables_and_come_before_hooks(
        self, planned, run, project, spark
    ):
        twice = "first: renamed_from: one of its names is in two renames"
        assert twice in run.message("renamed")
        assert twice in planned["renamed"].get("error", ""), planned["renamed"]
        assert not spark.catalog.tableExists(f"{project.test_schema}.hooked")
        assert planned["renamed_again"].get("error") is None, planned["renamed_again"]
        assert run.status("renamed_again") == "success", run.message("renamed_again")

    def test_an_end_with_a_zone_for_times_without_one_is_refused(self, planned, run, table):
        assert "to_timestamp_ntz('9999-12-31')" in run.message("ended")
        assert "to_timestamp_ntz('9999-12-31')" in planned["ended"].get("error", "")

    def test_the_times_of_a_snapshot_with_checked_columns_are_those_of_updated_at(
        self, planned, run, table
    ):
        assert run.status("versions") == "success", run.message("versions")
        changed = {change["path"][0] for change in planned["versions"]["type_changes"]}
        assert changed == {"at", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to"}
        types = table("versions").types
        assert {name for name in types if types[name] == "bigint"} == changed
