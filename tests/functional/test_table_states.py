"""The state of a table can forbid a change: it is refused before the first statement."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.functional.support import Table, dbt, needs_delta_4
from tests.functional.table_states import STATES, State


@dataclass(frozen=True)
class Before:
    version: int
    properties: dict[str, str]
    types: dict[str, str]
    rows: list[tuple[Any, ...]]


@needs_delta_4
class TestRefusals:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": state.model() for name, state in STATES.items()}
        models["not_delta.sql"] = models["not_delta.sql"].replace(
            "config(**{", "config(**{'file_format': 'parquet', "
        )
        return models

    @pytest.fixture(scope="class")
    def runs(self, project, spark):
        # Delta for Spark does not have IcebergWriterCompatV1. Another writer has set it.
        spark.conf.set("spark.databricks.delta.allowArbitraryProperties.enabled", "true")
        try:
            first = dbt("run")
        finally:
            spark.conf.unset("spark.databricks.delta.allowArbitraryProperties.enabled")
        assert {str(result.status) for result in first.results.values()} == {"success"}, (
            first.output
        )
        before = {}
        for name, state in STATES.items():
            table = Table(spark, f"{project.test_schema}.{name}")
            for statement in state.then:
                spark.sql(statement.format(table=table.name))
            before[name] = self.now(table, name)
        return dbt("run", step=2), before

    @staticmethod
    def now(table: Table, name: str) -> Before:
        version = 0 if name == "not_delta" else table.version
        return Before(version, table.properties, table.types, table.rows())

    @pytest.mark.parametrize("name", STATES)
    def test_the_refusal_names_its_reason_and_nothing_changes(self, runs, table, name):
        second, before = runs
        assert second.status(name) == "error"
        for text in STATES[name].said:
            assert text in second.message(name)
        assert self.now(table(name), name) == before[name]


@needs_delta_4
class TestRemedies:
    @pytest.fixture(scope="class")
    def models(self):
        names = ("check_constraint", "preview_only", "a_name_that_needs_column_mapping")
        return {f"{name}.sql": STATES[name].model() for name in names}

    def test_the_model_runs_after_the_remedy_of_its_refusal(self, project, spark, table):
        dbt("run")
        for statement in STATES["check_constraint"].then:
            spark.sql(statement.format(table=table("check_constraint").name))
        refused = dbt("run", step=2)
        assert {str(result.status) for result in refused.results.values()} == {"error"}
        for name, result in refused.results.items():
            (line,) = [line for line in result.message.splitlines() if " Do: " in line]
            statement = line.split("run: ")[1].split("; ")[0].removesuffix(".")
            assert statement.startswith(f"alter table `{project.test_schema}`.`{name}` ")
            spark.sql(statement)
        run = dbt("run", step=2)
        assert {str(result.status) for result in run.results.values()} == {"success"}, run.output
        assert table("check_constraint").rows("id", "amount") == [(1, 5), (2, 6)]
        assert table("preview_only").types["amount"] == "bigint"


class TestPreviewFeature:
    @pytest.fixture(scope="class")
    def models(self):
        state = STATES["preview_only"]
        before, after = "1 as id, cast(5 as tinyint) as n", "2 as id, cast(600 as int) as n"
        return {"small.sql": State(before, after, (), state.tblproperties).model()}

    def test_the_changes_of_the_preview_are_made(self, project, table):
        dbt("run")
        run = dbt("run", step=2)
        assert run.status("small") == "success", run.output
        assert table("small").rows() == [(1, 5), (2, 600)]
        assert "delta.feature.typeWidening" not in table("small").properties


class TestView:
    @pytest.fixture(scope="class")
    def models(self):
        return {"seen.sql": "{{ config(materialized='view') }} select cast(1 as int) as amount"}

    def test_a_view_is_refused(self, project):
        dbt("run")
        arguments = {"models": ["seen"], "columns": {"amount": "bigint"}}
        run = dbt("run-operation", "widen_columns", "--args", json.dumps(arguments))
        assert "amount: int -> bigint" in run.output
        assert "this is a view" in run.output
