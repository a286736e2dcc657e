"""Properties that a model gains after its table was created are set before the next write."""

import pytest

from tests.functional.support import dbt

MODEL = """
{{ config(materialized='incremental', on_schema_change=var('mode', 'ignore'),
  tblproperties=var('properties', {'team': "it's"})) }}
select 1 as id {{ ', 2 as n' if var('grown', false) }}
"""


class TestGainedProperties:
    @pytest.fixture(scope="class")
    def models(self):
        return {"model.sql": MODEL}

    def test_they_are_set_once_before_the_write(self, project, table):
        dbt("run")
        properties = {
            "team": "it's",
            "delta.enableChangeDataFeed": True,
            "DELTA.appendOnly": "true",
            "steward": 'a "b" \\ c',
        }
        version = table("model").version
        run = dbt("run", properties=properties)
        assert run.status("model") == "success", run.output
        assert table("model").operations(version) == ["SET TBLPROPERTIES", "WRITE"]
        has = table("model").properties
        assert (has["delta.enableChangeDataFeed"], has["delta.appendOnly"]) == ("true", "true")
        assert has["steward"] == 'a "b" \\ c'
        version = table("model").version
        dbt("run", properties=properties)
        assert table("model").operations(version) == ["WRITE"]
        # A property that is no longer configured stays.
        dbt("run")
        assert table("model").properties["steward"] == 'a "b" \\ c'

    def test_a_column_is_dropped_after_the_model_gains_column_mapping(self, project, table):
        dbt("run", "--full-refresh", grown=True)
        gained = {"delta.columnMapping.mode": "name"}
        run = dbt("run", mode="sync_all_columns", properties=gained)
        assert run.status("model") == "success", run.output
        assert list(table("model").types) == ["id"]

    def test_a_refused_plan_sets_nothing(self, project, table):
        dbt("run", "--full-refresh")
        version = table("model").version
        run = dbt("run", mode="fail", grown=True, properties={"steward": "x"})
        assert run.status("model") == "error"
        assert table("model").version == version
