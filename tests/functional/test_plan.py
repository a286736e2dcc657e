"""`dbt run-operation plan` shows what the next `dbt run` does to the tables of the target."""

import json
from pathlib import Path

import pytest

from tests.functional.operate import document, succeeds
from tests.functional.support import dbt

CONFIG = "materialized='incremental', on_schema_change='append_new_columns', type_widening=true"
MODELS = {
    "widens.sql": f"""
{{{{ config({CONFIG}) }}}}
select 1 as id, cast(1 as {{{{ var('type', 'tinyint') }}}}) as amount
{{% if is_incremental() %}}
, 'x' as more where 2 > (select max(id) from {{{{ this }}}}) {{% endif %}}
""",
    "refused.sql": f"""
{{{{ config({CONFIG}) }}}} select cast(1 as {{{{ var('other', 'int') }}}}) as amount""",
    "same.sql": f"{{{{ config({CONFIG}) }}}} select amount from {{{{ ref('refused') }}}}",
    "cents.sql": f"{{{{ config({CONFIG}) }}}} select cast(1 as {{{{ wide() }}}}) as amount",
    "small.sql": """{{ config(materialized='ephemeral') }}
select cast(1 as {{ var('type', 'tinyint') }}) as amount""",
    "of_small.sql": f"{{{{ config({CONFIG}) }}}} select amount from {{{{ ref('small') }}}}",
    "guarded.sql": f"""{{{{ config({CONFIG}) }}}}
{{% do run_query('create schema if not exists ' ~ schema) %}}
select cast(1 as {{{{ var('type', 'tinyint') }}}}) as amount""",
    "dropping.sql": f"""{{{{ config({CONFIG}) }}}}
{{% if var('drops', false) %}}
{{% do adapter.drop_relation(load_relation(ref('seen'))) %}}
{{% endif %}}
select 1 as id""",
    "new.sql": f"{{{{ config({CONFIG}, enabled=var('more', false)) }}}} select 1 as id",
    "adds.sql": "{{ config(materialized='incremental') }} "
    "select 1 as id {% if var('more', false) %}, 2 as extra {% endif %}",
    "seen.sql": "{{ config(materialized='view') }} select 1 as id",
}
PAST = """{% snapshot past %}
{{ config(unique_key='id', strategy='check', check_cols='all', target_schema=schema) }}
select id from {{ schema }}.not_there
{% endsnapshot %}"""
WIDER = {"type": "int", "other": "double", "more": True}


class TestPlan:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def macros(self):
        return {"wide.sql": "{% macro wide() %}{{ var('type', 'tinyint') }}{% endmacro %}"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"past.sql": PAST}

    @pytest.fixture(scope="class")
    def planned(self, project):
        """The plans by the model's name, what a run then did, and the Markdown before it."""
        assert dbt("run").status("cents") == "success"
        variables = ["--vars", json.dumps(WIDER)]
        command = ["--quiet", "run-operation", "plan", *variables, "--args"]
        printed = dbt(*command, json.dumps({"output": "json"})).output
        (line,) = [line for line in printed.splitlines() if line.startswith("{")]
        markdown = dbt(*command, json.dumps({"output": "markdown"})).output
        dbt("compile", *variables)
        compiled = dbt(*command, json.dumps({"output": "json", "compiled": True})).output
        (second,) = [line for line in compiled.splitlines() if line.startswith("{")]
        run = dbt("run", **WIDER)
        first, second = (json.loads(text) for text in (line, second))
        by_name = {table["model"]: table for table in first["tables"]}
        return by_name, {table["model"]: table for table in second["tables"]}, run, markdown

    def test_the_planned_changes_are_those_of_the_run(self, planned, table):
        widens = planned[0]["widens"]
        assert widens["type_changes"] == [{"path": ["amount"], "from": "tinyint", "to": "int"}]
        assert widens["new"] == [["more"]]
        assert table("widens").types == {"id": "int", "amount": "int", "more": "string"}
        assert planned[2].status("widens") == "success"

    def test_what_the_run_refuses_is_refused_before_with_a_way_out(self, planned):
        assert "widen_columns" in planned[0]["refused"]["error"]
        assert planned[2].status("refused") == "error"

    def test_a_model_without_a_change_and_a_new_model_are_named(self, planned):
        assert planned[0]["same"]["statements"] == []
        assert planned[0]["new"]["new_table"] is True
        assert "seen" not in planned[0]

    def test_a_plan_with_the_types_of_today_says_which_input_the_run_changes(self, planned):
        assert planned[0]["same"]["reads_changed"] == ["refused"]
        assert planned[0]["widens"]["reads_changed"] == []

    @pytest.mark.parametrize("model", ["cents", "of_small"])
    def test_a_model_with_macros_or_an_ephemeral_model_is_planned(self, planned, table, model):
        for found in planned[:2]:
            (change,) = found[model]["type_changes"]
            assert change == {"path": ["amount"], "from": "tinyint", "to": "int"}
        assert planned[1]["widens"] == planned[0]["widens"]
        assert table(model).types == {"amount": "int"}

    def test_a_model_that_runs_a_statement_is_planned_from_its_compiled_query(self, planned):
        assert "run dbt compile" in planned[0]["guarded"]["error"]
        assert planned[1]["guarded"]["type_changes"]

    def test_a_plan_drops_nothing(self, planned, table):
        assert planned[0]["dropping"]["statements"] == []
        printed = dbt(
            "run-operation", "plan", "--vars", '{"drops": true}', "--args", "{models: dropping}"
        )
        assert "run dbt compile" in printed.output
        assert table("seen").rows() == [(1,)]

    def test_markdown_has_a_heading_the_statements_and_the_refusal(self, planned):
        heading = "## plan: 2 refused, 3 to change, 1 new, 1 skipped, 2 without change"
        assert heading in planned[3]
        assert "alter column `amount` type int" in planned[3]
        assert "### refused: the run stops" in planned[3]

    def test_the_warnings_of_the_run_are_shown_before_it(self, planned):
        (warning,) = planned[0]["adds"]["warnings"]
        assert "lacks these columns of the model" in warning
        assert "extra. They are not stored" in warning
        assert warning in planned[2].output
        assert "extra. They are not stored" in planned[3]

    def test_each_table_is_named_and_a_new_one_is_named_as_its_model(self, planned, project):
        tables = {name: planned[0][name]["table"] for name in ("widens", "refused", "new")}
        assert tables == {
            "widens": f"`{project.test_schema}`.`widens`",
            "refused": f"`{project.test_schema}`.`refused`",
            "new": "new",
        }

    def test_a_snapshot_with_a_query_that_is_refused_is_an_error(self, planned):
        found = document("plan", models=["past", "widens"])
        assert "not_there" in found["tables"][0]["error"]
        assert found["failed"] == 1
        assert found["downstream"] == []

    def test_a_page_is_written_also_if_a_model_is_refused(self, project):
        arguments = '{"models": ["widens", "refused"], "output": "html", "file": "pages/plan.html"}'
        variables = ["--vars", '{"type": "bigint", "other": "double"}']
        printed = dbt("run-operation", "plan", *variables, "--args", arguments).output
        file = Path(project.project_root, "pages", "plan.html")
        assert f"The page is in {file.resolve()}" in printed
        assert "1 of 2 nodes failed" in printed
        page = file.read_text(encoding="utf-8")
        assert "<svg" in page
        assert "alter column `amount` type bigint" in page
        assert "widen_columns" in page

    def test_no_other_file_is_replaced_by_the_page(self, project):
        file = Path(project.project_root, "dbt_project.yml")
        before = file.read_bytes()
        arguments = {"models": ["widens"], "output": "html", "file": "dbt_project.yml"}
        assert not succeeds("plan", **arguments)
        assert file.read_bytes() == before

    def test_other_outputs_are_an_error(self, project):
        printed = dbt("run-operation", "plan", "--args", '{"output": "xml"}').output
        assert "plan: output: got 'xml'; accepted: text, json, markdown, html" in printed
