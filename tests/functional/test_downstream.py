"""`plan` names everything that a change reaches, and nothing else; then a run does just that."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.functional.operate import document
from tests.functional.support import dbt, needs_delta_4

CONFIG = "materialized='incremental', on_schema_change='{mode}', type_widening=true"


def incremental(query: str, mode: str = "append_new_columns") -> str:
    return f"{{{{ config({CONFIG.format(mode=mode)}) }}}} {query}"


AMOUNT = "select 1 as id, cast(1 as {{ var('amount', 'tinyint') }}) as amount"
PLANTED = {
    # Three that widen: the third one only because of the first one.
    "orders.sql": incremental(AMOUNT),
    "payments.sql": incremental(AMOUNT),
    "totals.sql": incremental("select orders.amount from {{ ref('orders') }}"),
    # Two that are refused: the second one only because of what it reads.
    "fares.sql": incremental("select cast(1 as {{ var('fare', 'int') }}) as fare"),
    "strict.sql": incremental("select amount from {{ ref('payments') }}", "fail"),
    # A view of a model, a contract, and a table that a snapshot reads.
    "latest.sql": "select * from {{ ref('orders') }}",
    "promised.sql": "{{ config(materialized='table') }} select amount from {{ ref('payments') }}",
    # What no change reaches, though it reads the tables.
    "ids.sql": "select id from {{ ref('orders') }}",
    "kept.sql": incremental("select id from {{ ref('payments') }}"),
    "alone.sql": incremental("select 1 as id"),
    "models.yml": """
models:
  - name: promised
    config: {contract: {enforced: true}}
    columns: [{name: amount, data_type: tinyint}]
exposures:
  - {name: board, type: dashboard, owner: {name: x}, depends_on: [ref('totals')]}
  - {name: list, type: dashboard, owner: {name: x}, depends_on: [ref('ids')]}
""",
}
SNAPSHOT = """
{% snapshot kept_orders %}
{{ config(unique_key='id', strategy='check', check_cols='all', type_widening=true) }}
select * from {{ ref('payments') }}
{% endsnapshot %}
"""
WIDER = {"amount": "int", "fare": "double"}
FILLERS = 90


@needs_delta_4
class TestForecast:
    fillers = 0
    synced: dict[str, Any] = {}

    @pytest.fixture(scope="class")
    def models(self):
        # Chains of views and tables beside the planted ones.
        reads = [f"filler_{n - 1}" if n % 9 else "ids" for n in range(self.fillers)]
        fillers = {
            f"filler_{n}.sql": f"select id from {{{{ ref('{name}') }}}}"
            for n, name in enumerate(reads)
        }
        return {**PLANTED, **fillers}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"kept_orders.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def forecast(self, project, photograph):
        """The document before the run, the Markdown, and the results of the run."""
        created = dbt("build", "--exclude-resource-type", "exposure")
        assert {str(result.status) for result in created.results.values()} == {"success"}
        # Views that Spark makes by default, of a model and of somebody else.
        project.run_sql("drop view {schema}.latest")
        project.run_sql("create view {schema}.latest as select * from {schema}.orders")
        project.run_sql("create view {schema}.report as select amount as a from {schema}.payments")
        variables = ["--vars", json.dumps(WIDER)]
        planned = document("plan", *variables)
        markdown = dbt(
            "--quiet", "run-operation", "plan", *variables, "--args", '{"output": "markdown"}'
        )
        photograph("plan", *variables, size=(1240, 1500))
        type(self).synced = document("sync_contracts", *variables)
        return planned, markdown.output, dbt("build", **WIDER)

    def test_all_ten_are_named_and_no_eleventh(self, forecast, project):
        planned = forecast[0]
        tables = {table["model"]: table for table in planned["tables"]}
        changed = {name for name, table in tables.items() if table.get("type_changes")}
        assert changed == {"orders", "payments", "totals", "kept_orders"}
        assert {name for name, table in tables.items() if "error" in table} == {"fares", "strict"}
        assert tables["totals"]["reads_changed"] == ["orders"]
        found = {(e["kind"], e["name"], e["outcome"]) for e in planned["downstream"]}
        assert found == {
            ("view", "latest", "casts back until it is updated"),
            ("view", f"{project.test_schema}.report", "casts back until it is updated"),
            ("contract", "promised", "no longer matches"),
            ("exposure", "board", "reads changed types"),
        }
        assert planned["failed"] == 3
        assert planned["readers_lost"] == []

    def test_the_run_then_does_what_was_forecast(self, forecast, table):
        planned, _, run = forecast
        for plan in planned["tables"]:
            stops = "error" in plan
            assert run.status(plan["model"]) == ("error" if stops else "success"), plan
            for change in plan.get("type_changes", ()):
                assert table(plan["model"]).types[change["path"][0]] == change["to"]
        assert run.status("promised") == "error"
        assert table("kept").types == {"id": "int"}
        assert table("ids").types == {"id": "int"}

    def test_markdown_has_a_row_for_each(self, forecast):
        assert "### What reads the tables" in forecast[1]
        assert "| contract | promised | **no longer matches** | payments |" in forecast[1]
        assert "sync_contracts" in forecast[1]

    def test_the_commands_are_those_for_each_view(self, forecast, project):
        do = {effect["name"]: effect["do"] for effect in forecast[0]["downstream"]}
        alter = f"alter view `{project.test_schema}`.`latest` with schema type evolution"
        assert do["latest"] == [alter, "dbt run --select latest"]

    def test_the_stale_line_of_the_contract_is_shown_before_the_run_and_written(
        self, forecast, project, table
    ):
        assert "-    columns: [{name: amount, data_type: tinyint}]\n" in self.synced["diff"]
        assert "+    columns: [{name: amount, data_type: int}]\n" in self.synced["diff"]
        file = Path(project.project_root, "models", "models.yml")
        before = file.read_text(encoding="utf-8")
        assert "data_type: tinyint" in before
        variables = ["--vars", json.dumps(WIDER)]
        written = document("sync_contracts", *variables, models=["promised"], write=True)
        assert written["failed"] == 0
        assert file.read_text(encoding="utf-8") == before.replace("tinyint", "int")
        assert dbt("run", "--select", "promised", **WIDER).status("promised") == "success"
        assert table("promised").types == {"amount": "int"}


@pytest.mark.slow
class TestForecastOfALargeProject(TestForecast):
    fillers = FILLERS
