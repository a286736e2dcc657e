"""The comments on the columns of a table are one commit, whatever the columns are."""

import pytest

from tests.functional.support import dbt, needs_delta_4

MODEL = """
{{ config(materialized='incremental', persist_docs={'columns': true}, partition_by='p',
          incremental_strategy='append') }}
select 1 as id, 'a' as v, named_struct('x', 1) as s, 'p' as p, 1 as `my col`
"""
SCHEMA = """
models:
  - name: described
    columns:
      - {name: id, description: "The 'id' \\\\ of it"}
      - {name: v, description: Short}
      - {name: s}
      - {name: p, description: Part}
      - {name: P, description: Partition}
"""


@needs_delta_4
class TestComments:
    @pytest.fixture(scope="class")
    def models(self):
        return {"described.sql": MODEL.replace("`my col`", "n"), "schema.yml": SCHEMA}

    def test_are_one_commit_after_the_table_is_created(self, project, table):
        run = dbt("run")
        assert run.status("described") == "success", run.message("described")
        described = table("described")
        assert described.operations(since=-1) == [
            "CREATE OR REPLACE TABLE AS SELECT",
            "CHANGE COLUMNS",
        ]
        fields = described.spark.table(described.name).schema
        assert {field.name: field.metadata.get("comment") for field in fields} == {
            "id": "The 'id' \\ of it",
            "v": "Short",
            "s": "",
            "p": "Partition",
            "n": None,
        }
