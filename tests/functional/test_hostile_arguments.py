"""Arguments of operations that would be more than one clause of a statement change nothing."""

import json

import pytest
from pyspark.sql import SparkSession

from tests.functional.support import Table, dbt

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("nothing_else_changes")]

DROP = "drop table hostile_victim.victim"
ARGUMENTS = [
    ("optimize", {"where": f"p = 1; {DROP}"}),
    ("optimize", {"where": "p = 1 zorder by (id)) /*"}),
    ("optimize", {"where": f"p in (1)`; {DROP}; --"}),
    ("optimize", {"zorder_by": [f"id); {DROP}; --"]}),
    ("optimize", {"zorder_by": ["id`) /*"]}),
    ("vacuum", {"retention_hours": f"200 hours; {DROP}"}),
    ("widen_columns", {"columns": {"id": "decimal(20,0), p type decimal(20,0)"}}),
    ("widen_columns", {"columns": {"id": f"decimal(20,0); {DROP}"}}),
    ("widen_columns", {"columns": {"id": "decimal(20,0) comment 'x'"}}),
    ("widen_columns", {"columns": {f"id` type bigint; {DROP}; --": "bigint"}}),
    ("audit_lossy_writes", {"unique_key": [f"id` = 1; {DROP}; --"]}),
    ("check_type_widening", {"against": f"hostile_victim`; {DROP}; --"}),
    ("drop_type_widening", {"truncate_history": f"true; {DROP}"}),
    ("report_type_widening", {"output": f"json; {DROP}"}),
]


class TestArguments:
    @pytest.fixture(scope="class")
    def models(self):
        config = "materialized='incremental', partition_by='p', type_widening=true"
        return {"t.sql": f"{{{{ config({config}) }}}} select 1 as id, {{{{ var('p', 1) }}}} as p"}

    @pytest.fixture(scope="class")
    def table(self, project, spark: SparkSession) -> Table:
        assert dbt("run").status("t") == "success"
        return Table(spark, f"{project.test_schema}.t")

    @pytest.mark.parametrize(("operation", "arguments"), ARGUMENTS)
    def test_the_operation_ends_with_a_message_and_changes_nothing(
        self, table: Table, operation: str, arguments: dict[str, object]
    ):
        before = (table.version, table.types)
        given = json.dumps({"models": ["t"], **arguments})
        run = dbt("run-operation", operation, "--args", given)
        # The audit shows what it can't compare, and goes on.
        refusals = ("Encountered an error", "has no column")
        assert any(text in run.output for text in refusals), run.output
        assert "Traceback" not in run.output
        assert (table.version, table.types) == before

    def test_a_variable_is_one_expression_of_a_model(self, table: Table):
        before = table.version
        run = dbt("run", "--vars", json.dumps({"p": f"1 as p; {DROP}; select 1"}))
        assert "[PARSE_SYNTAX_ERROR]" in run.message("t")
        assert table.version == before
