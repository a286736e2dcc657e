"""Pre-hooks run before a model is planned: an error says that what they have changed stays."""

import pytest

from tests.functional.support import dbt

MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='append', on_schema_change='{}',
          pre_hook="{}") }}}}
select 2 as id, {{% if is_incremental() %}} 2.5 {{% else %}} 2 {{% endif %}} as n
"""
DELETES = "delete from {{ this }} where {{ is_incremental() }}"
MODELS = {
    "refused": ("append_new_columns", DELETES),
    "stopped": ("ignore", DELETES),
    "only_set": ("ignore", "set spark.sql.ansi.enabled = true"),
}
SAID = "The pre-hooks had run before. What they deleted or changed is not undone."


class TestAPreHookThatDeletesRows:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": MODEL.format(*config) for name, config in MODELS.items()}

    def test_is_named_by_the_error_that_nothing_was_written(self, project, table, spark):
        for name in MODELS:
            spark.sql(f"create table {table(name).name} using delta as select 1 as id, 1 as n")
        run = dbt("run")
        assert "nothing was changed or written" in run.message("refused")
        assert "Nothing was written" in run.message("stopped")
        for name in MODELS:
            has_deleted = name != "only_set"
            assert table(name).rows() == ([] if has_deleted else [(1, 1)])
            assert (SAID in run.message(name)) == has_deleted, run.message(name)
