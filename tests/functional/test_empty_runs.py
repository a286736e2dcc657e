"""`dbt run --empty` on tables that exist: no row is added, and none is removed."""

import pytest

from tests.functional.support import dbt

MODEL = """
{{{{ config(materialized='incremental', unique_key='id', {config}) }}}}
select id, 1 as part, cast('2026-01-01 10:00:00' as timestamp) as at from {{{{ ref('numbers') }}}}
"""
STRATEGIES = {
    "replaced": "incremental_strategy='replace_where', incremental_predicates=['part = 1']",
    "overwritten": "incremental_strategy='insert_overwrite'",
    "in_partitions": "incremental_strategy='insert_overwrite', partition_by='part'",
    "in_batches": (
        "incremental_strategy='microbatch', event_time='at', begin='2026-01-01', batch_size='day'"
    ),
    "merged": "incremental_strategy='merge', not_matched_by_source_action='delete'",
    "keyed": "incremental_strategy='delete+insert'",
}


class TestEmptyRuns:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": MODEL.format(config=text) for name, text in STRATEGIES.items()}
        numbers = "{{ config(materialized='table') }} select id from range(2)"
        return {**models, "numbers.sql": numbers}

    def test_no_row_is_removed(self, project, table):
        times = ("--event-time-start", "2026-01-01", "--event-time-end", "2026-01-02")
        dbt("run", *times)
        for options in (["--empty"], []):
            run = dbt("run", "--exclude", "numbers", *times, *options)
            for name in STRATEGIES:
                assert run.status(name) == "success", run.message(name)
                assert table(name).rows("id") == [(0,), (1,)], (name, options)
