"""Which models can give the rows that exist the values of new columns."""

import pytest

from dbt.adapters.deltawiden.config.validation import configuration_problems

MODEL = {
    "materialized": "incremental",
    "unique_key": "id",
    "on_schema_change": "append_new_columns",
    "backfill_new_columns": True,
}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"unique_key": None}, "accepted: true for a model with a unique_key"),
        ({"incremental_strategy": "microbatch"}, "accepted: false for a microbatch"),
        ({"materialized": "snapshot"}, "accepted: false for a snapshot"),
        ({"file_format": "iceberg"}, "Use the operation backfill_columns"),
        ({"on_schema_change": None}, "append_new_columns or sync_all_columns, which add columns"),
        ({"on_schema_change": "fail"}, "append_new_columns or sync_all_columns, which add columns"),
        ({"backfill_new_columns": "yes"}, "backfill_new_columns: got 'yes'; accepted: true, false"),
    ],
)
def test_what_can_not_be_done_is_a_configuration_error(changed, words):
    (problem,) = configuration_problems({**MODEL, **changed}, lambda _: False)
    assert words in problem


@pytest.mark.parametrize(
    "config",
    [
        MODEL,
        {**MODEL, "on_schema_change": "sync_all_columns"},
        {**MODEL, "materialized": "table", "unique_key": None, "on_schema_change": None},
        {"unique_key": None},
    ],
)
def test_a_model_with_a_key_is_accepted_and_one_that_is_made_anew_is_not_concerned(config):
    assert configuration_problems(config, lambda _: False) == []
