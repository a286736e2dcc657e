"""Runs with `--empty` or `--sample` on tables that exist: no row is removed."""

from pathlib import Path

import pytest

from tests.functional.support import dbt, needs_delta_4

MODEL = """
{{{{ config(materialized='incremental', unique_key='id', {config}) }}}}
select id, 1 as part, cast('2026-01-01 10:00:00' as timestamp) as at from {{{{ ref('numbers') }}}}
"""
NUMBERS = "{{ config(materialized='table') }} select id from range(2)"
STRATEGIES = {
    "replaced": "incremental_strategy='replace_where', incremental_predicates=['part = 1']",
    "overwritten": "incremental_strategy='insert_overwrite'",
    "in_partitions": "incremental_strategy='insert_overwrite', partition_by='part'",
    "in_batches": (
        "incremental_strategy='microbatch', event_time='at', begin='2026-01-01', batch_size='day'"
    ),
    "merged": "incremental_strategy='merge', not_matched_by_source_action='delete'",
    "keyed": "incremental_strategy='delete+insert'",
    "own": "incremental_strategy='emptying'",
    "own_merge": "incremental_strategy='merge'",
}
EMPTYING = """
{% macro get_incremental_emptying_sql(arg_dict) %}
  insert overwrite {{ arg_dict.target_relation }} select * from {{ arg_dict.temp_relation }}
{% endmacro %}
"""
OWN = """
{% macro get_merge_update_columns(merge_update_columns, merge_exclude_columns, dest_columns) %}
  {{ return(['part']) }}
{% endmacro %}
{% macro get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates=none) %}
  merge into {{ target }} t using {{ source }} s on t.id = s.id
  when not matched by source then delete
{% endmacro %}
"""


SNAPSHOT = """
{{% snapshot {name} %}}
{{{{ config(target_schema=target.schema, unique_key='id', strategy='check', check_cols='all',
          {config}) }}}}
select id, 1 as part from {{{{ ref('{source}') }}}}
{{% endsnapshot %}}
"""
SNAPSHOTS = {
    "invalidated": "hard_deletes='invalidate'",
    "recorded": "hard_deletes='new_record'",
    "by_the_old_name": "invalidate_hard_deletes=true",
}


def snapshots_of(source: str) -> dict[str, str]:
    return {
        f"{name}.sql": SNAPSHOT.format(name=name, config=text, source=source)
        for name, text in SNAPSHOTS.items()
    }


class TestEmptyRuns:
    @pytest.fixture(scope="class")
    def macros(self):
        return {"emptying.sql": EMPTYING}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return snapshots_of("numbers")

    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": MODEL.format(config=text) for name, text in STRATEGIES.items()}
        return {**models, "numbers.sql": NUMBERS}

    def test_no_row_is_removed(self, project, table):
        times = ("--event-time-start", "2026-01-01", "--event-time-end", "2026-01-02")
        dbt("build", *times)
        for options in (["--empty"], []):
            run = dbt("build", "--exclude", "numbers", *times, *options)
            for name in (*STRATEGIES, *SNAPSHOTS):
                assert run.status(name) == "success", run.message(name)
                assert table(name).rows("id") == [(0,), (1,)], (name, options)
                if name in SNAPSHOTS:
                    assert table(name).rows("dbt_valid_to") == [(None,), (None,)], (name, options)
        Path(project.project_root, "macros", "own.sql").write_text(OWN, encoding="utf-8")
        run = dbt("run", "--select", "merged", "own_merge", "--empty")
        for name in ("merged", "own_merge"):
            assert run.status(name) == "success", run.message(name)
            assert table(name).rows("id") == [(0,), (1,)], name


COUNTED = """
{{{{ config(materialized='incremental', unique_key='day', {config}) }}}}
select date'2026-01-01' as day, count(*) as n from {{{{ ref('numbers') }}}}
"""
FRAME = """
def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    return dbt.ref("numbers")
"""
COUNTED_SNAPSHOT = """
{% snapshot counted_snapshot %}
{{ config(target_schema=target.schema, unique_key='day', strategy='check', check_cols='all') }}
select date'2026-01-01' as day, count(*) as n from {{ ref('numbers') }}
{% endsnapshot %}
"""


class TestEmptyRunsOfQueriesThatHaveRowsAllTheSame:
    """An aggregate has a row of no rows, and dbt.ref of a Python model has all rows."""

    COUNTED = {"counted": "append", "counted_by_day": "merge", "counted_again": "delete+insert"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"counted_snapshot.sql": COUNTED_SNAPSHOT}

    @pytest.fixture(scope="class")
    def models(self):
        models = {
            f"{name}.sql": COUNTED.format(config=f"incremental_strategy='{strategy}'")
            for name, strategy in self.COUNTED.items()
        }
        return {**models, "frame.py": FRAME, "numbers.sql": NUMBERS}

    def test_write_no_row(self, project, table):
        dbt("build")
        run = dbt("build", "--exclude", "numbers", "--empty")
        for name in self.COUNTED:
            assert run.status(name) == "success", run.message(name)
            assert table(name).rows("n") == [(2,)], name
        assert run.status("frame") == "success", run.message("frame")
        assert table("frame").rows("id") == [(0,), (1,)]
        assert run.status("counted_snapshot") == "success", run.message("counted_snapshot")
        assert table("counted_snapshot").rows("n", "dbt_valid_to") == [(2, None)]


MOMENTS = """
{{ config(materialized='table', event_time='at') }}
select id, timestamp'2026-01-01 10:00:00' + make_interval(0, 0, 0, id) as at
from range({{ var('ids', 2) }})
"""


BACKFILLED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns', backfill_new_columns=true) }}
select id {{ ', 1 as more' if var('ids', 2) == 3 }} from {{ ref('moments') }}
"""


class TestSamples:
    """The sample has one row of two, and a row that is new."""

    @pytest.fixture(scope="class")
    def snapshots(self):
        return snapshots_of("moments")

    @pytest.fixture(scope="class")
    def models(self):
        return {"moments.sql": MOMENTS, "backfilled.sql": BACKFILLED}

    @pytest.mark.slow
    def test_a_snapshot_gets_their_rows_and_closes_no_other(self, project, table):
        dbt("build")
        sample = "{'start': '2026-01-02', 'end': '2026-01-09'}"
        dbt("run", "--select", "moments", ids=3)
        run = dbt("build", "--exclude", "moments", "--sample", sample, ids=3)
        assert "under --empty and --sample, no query has all rows" in run.message("backfilled")
        for name in SNAPSHOTS:
            assert run.status(name) == "success", run.message(name)
            rows = table(name).rows("id", "dbt_valid_to")
            assert rows == [(0, None), (1, None), (2, None)], name
        dbt("run", "--select", "moments", ids=1)
        run = dbt("build", "--exclude", "moments")
        for name in SNAPSHOTS:
            closed = table(name).rows("id", "dbt_valid_to is not null")
            assert {(1, True), (2, True)} <= set(closed), name


CHANGED = """
{{ config(materialized='incremental', on_schema_change='sync_all_columns', type_widening=true,
          tblproperties={'delta.columnMapping.mode': 'name'}) }}
{% if var('changed', false) %}
select id, named_struct('kept', id) as s, id as new
{% else %}
select cast(id as int) as id, named_struct('kept', id, 'gone', id) as s, id as more
{% endif %}
from {{ ref('numbers') }}
"""


@needs_delta_4
class TestEmptyRunsOfChangedModels:
    @pytest.fixture(scope="class")
    def models(self):
        return {"changed.sql": CHANGED, "numbers.sql": NUMBERS}

    def test_columns_are_widened_and_added_and_the_next_run_drops_the_others(self, project, table):
        dbt("run")
        run = dbt("run", "--empty", "--select", "changed", changed=True)
        assert run.status("changed") == "success", run.message("changed")
        assert "more is kept, and null in new rows" in run.output
        assert table("changed").types["id"] == "bigint"
        assert table("changed").rows("id", "s.gone", "more", "new") == [
            (0, 0, 0, None),
            (1, 1, 1, None),
        ]
        assert "dropped s.gone, more" in dbt("run", changed=True).output
        assert list(table("changed").types) == ["id", "s", "new"]
