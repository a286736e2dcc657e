"""A column that is added to a table of another format is written in the same run, by its name."""

import pytest

from tests.functional.support import dbt

MODEL = """
{{{{ config(materialized='incremental', file_format='parquet',
          on_schema_change='append_new_columns', {config}) }}}}
select {{% if var('step') > 1 %}} {{{{ var('step') }}}} * 100 as added, {{% endif %}}
  'p' || {{{{ var('step') }}}} as p, {{{{ var('step') }}}} as id
"""
CONFIG = {
    "plain": "incremental_strategy='append'",
    "partitioned": "incremental_strategy='append', partition_by='p'",
    "overwritten": "incremental_strategy='insert_overwrite', partition_by=['p']",
}


class TestParquet:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": MODEL.format(config=config) for name, config in CONFIG.items()}

    def test_a_new_column_is_added_and_written(self, project, table):
        dbt("run", step=1)
        for name in CONFIG:
            # The session caches the files of the table.
            assert table(name).rows("id", "p") == [(1, "p1")]
        for step in (2, 3):
            run = dbt("run", step=step)
            for name in CONFIG:
                assert run.status(name) == "success", run.message(name)
        for name in CONFIG:
            assert table(name).rows("id", "p", "added") == [
                (1, "p1", None),
                (2, "p2", 200),
                (3, "p3", 300),
            ]
        run = dbt("run", step=3)
        assert len(table("overwritten").rows()) == 3
        assert len(table("partitioned").rows()) == 4
