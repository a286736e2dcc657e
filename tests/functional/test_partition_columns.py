"""A partition column stores each value as it is, or the run stops."""

import pytest

from tests.functional.operate import operate
from tests.functional.support import dbt, needs_delta_4
from tests.small import settings_of

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

_SEED = {"+partition_by": "AT", "+column_types": {"at": "timestamp"}}
SEEDS = {
    "seeded": _SEED,
    "with_varchar": {**_SEED, "+column_types": {"at": "timestamp", "p": "varchar(3)"}},
    "parquet": {**_SEED, "+file_format": "parquet"},
}


class TestPartitionColumns:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": INCREMENTAL.format(config=c) for name, c in CONFIG.items()}
        return {**models, "as_table.sql": TABLE}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapped.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def seeds(self):
        rows = "1,a,2024-11-03 05:30:00Z\n2,b,2024-11-03 06:30:00Z\n"
        return {f"{name}.csv": f"id,p,at\n{rows}" for name in SEEDS}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"seeds": {"test": SEEDS}}

    @pytest.fixture(scope="class")
    def stored(self, project):
        run = dbt("build", "--exclude", "resource_type:seed", step=1)
        assert {run.status(name) for name in [*CONFIG, "as_table", "snapped"]} == {"success"}

    @pytest.mark.slow
    @pytest.mark.parametrize("value", ["''", NULL_TEXT])
    def test_a_text_that_would_be_null_stops_the_run(self, stored, table, value):
        before = {name: table(name).rows("id", "p") for name in [*CONFIG, "as_table", "snapped"]}
        run = dbt("build", "--exclude", "resource_type:seed", step=2, value=value)
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

    def test_a_seed_is_checked_too(self, project):
        run = dbt("seed")
        for name in SEEDS:
            assert f"The model {name} has the value '2024-11-03 01:30:00'" in run.message(name)

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


MOVABLE = """
{{{{ config(materialized='incremental', partition_by='at', {config}) }}}}
select {{{{ var('id', 1) }}}} as id, cast(1 as decimal({{{{ var('digits', 8) }}}}, 2)) as n,
  timestamp'2024-11-0{{{{ var('day', 3) }}}} 05:00:00Z' as at
"""
MOVABLE_SNAPSHOT = """
{% snapshot kept %}
{{ config(unique_key='id', strategy='check', check_cols=['n'], partition_by='at') }}
select 1 as id, {{ var('digits', 8) }} as n, timestamp'2024-11-03 05:00:00Z' as at
{% endsnapshot %}
"""
STRATEGIES = {
    "merged": "incremental_strategy='merge', unique_key='id'",
    "deleted": "incremental_strategy='delete+insert', unique_key='id'",
    "widened": "on_schema_change='append_new_columns', type_widening=true",
    "compacted": "optimize='after_run'",
    # These write no other row again.
    "inserted": "incremental_strategy='merge'",
    "skipped": "incremental_strategy='merge', unique_key='id', skip_matched_step=true",
    "replaced": "incremental_strategy='replace_where', incremental_predicates=["
    "'at = timestamp\\'2024-11-0' ~ var('day', 3) ~ ' 05:00:00Z\\'']",
    "batched": "incremental_strategy='microbatch', event_time='at', begin='2024-11-03', "
    "batch_size='day'",
}
BATCH = ("--event-time-start", "2024-11-03", "--event-time-end", "2024-11-04")
OTHER_MOMENT = "In the time zone of this session, America/New_York, this would be another timestamp"


@needs_delta_4
class TestRowsThatAreWrittenAgain:
    """Another session has written a timestamp that this one can't write."""

    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": MOVABLE.format(config=c) for name, c in STRATEGIES.items()}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"kept.sql": MOVABLE_SNAPSHOT}

    @pytest.fixture(scope="class")
    def tables(self, project, spark):
        names = [*STRATEGIES, "kept"]
        for _ in range(2):
            run = dbt("build", *BATCH)
            assert {name: run.status(name) for name in names} == dict.fromkeys(names, "success")
        with settings_of(spark, {"spark.sql.session.timeZone": "UTC"}):
            for name in names:
                t = f"{project.test_schema}.{name}"
                columns = spark.table(t).columns
                values = {"id": "explode(array(2, 3)) as id", "at": "at + interval 1 hour as at"}
                selected = ", ".join(values.get(column, column) for column in columns)
                spark.sql(f"insert into {t} select {selected} from {t} where id = 1 limit 2")
        return names

    def test_keep_their_timestamps_or_the_run_stops(self, tables, table):
        moments = {name: table(name).rows("id", "unix_seconds(at)") for name in tables}
        batch = ("--event-time-start", "2024-11-04", "--event-time-end", "2024-11-05")
        run = dbt("build", *batch, digits=12, id=2, day=4)
        for name in ("merged", "deleted", "kept"):
            assert OTHER_MOMENT in run.message(name)
            assert table(name).rows("id", "unix_seconds(at)") == moments[name]
        assert run.status("widened") == "success"
        assert "were not all rewritten" in run.output
        assert run.status("compacted") == "success"
        assert "compacted`: OPTIMIZE did not run." in run.output
        for name in ("widened", "compacted"):
            added = table(name).rows("id", "unix_seconds(at)")
            assert set(moments[name]) <= set(added)
        for name in ("inserted", "skipped", "replaced", "batched"):
            assert run.status(name) == "success", run.message(name)
            added = table(name).rows("id", "unix_seconds(at)")
            assert set(moments[name]) <= set(added)
        before = table("widened").version
        for operation in ("optimize", "rewrite_widened_files", "drop_type_widening"):
            for is_dry in (True, False):
                arguments = {"relations": [table("widened").name], "dry_run": is_dry}
                assert OTHER_MOMENT in operate(operation, **arguments)
        assert table("widened").version == before
