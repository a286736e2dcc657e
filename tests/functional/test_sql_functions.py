"""SQL functions cast what they get to the types that they declare, also after a table is wider."""

import json
from decimal import Decimal
from importlib.metadata import version

import pytest
from packaging.version import Version

from tests.functional.operate import document, operate
from tests.functional.support import dbt, needs_delta_4

needs_functions = pytest.mark.skipif(
    Version(version("dbt-core")) < Version("1.11") or Version(version("pyspark")) < Version("4"),
    reason="dbt-core has functions since 1.11, and Spark since 4.0",
)

ORDERS = """
{{ config(materialized='incremental', on_schema_change='append_new_columns', type_widening=true) }}
select cast({{ var('n', 1) }} as {{ var('n_type', 'int') }}) as n,
  cast({{ var('amount', '1.25') }} as {{ var('amount_type', 'decimal(8,2)') }}) as amount
"""
READER = """
{{ config(materialized='table') }}
select {{ function('net') }}(amount) as amount, {{ function('same') }}(n) as n,
  {{ function('returned') }}(amount) as returned
from {{ ref('through') }}
"""
FUNCTIONS = """
functions:
  - name: net
    arguments: [{{name: amount, data_type: "{0}"}}]
    returns: {{data_type: "{0}"}}
  - name: same
    arguments: [{{name: n, data_type: int}}]
    returns: {{data_type: int}}
  - name: returned
    arguments: [{{name: amount, data_type: "decimal(38,10)"}}]
    returns: {{data_type: "{0}"}}
  - name: largest
    returns: {{data_type: "{0}"}}
"""
WIDE = {"amount": "1.2367", "amount_type": "decimal(12,4)", "n": 5000000000, "n_type": "bigint"}


@needs_delta_4
@needs_functions
class TestFunctionsOverAWidenedTable:
    @pytest.fixture(scope="class")
    def functions(self):
        return {
            "net.sql": "amount",
            "same.sql": "n",
            "returned.sql": "amount",
            "largest.sql": "select max(amount) from {{ ref('restored') }}",
            "functions.yml": FUNCTIONS.format("decimal(8,2)"),
        }

    @pytest.fixture(scope="class")
    def models(self):
        through = "{{ config(materialized='view') }} select * from {{ ref('orders') }}"
        by_body = "{{ config(materialized='table') }} select {{ function('largest') }}() as amount"
        models = {"orders": ORDERS, "restored": ORDERS, "through": through, "reader": READER}
        return {f"{name}.sql": text for name, text in {**models, "by_body": by_body}.items()}

    def test_are_named_before_and_after_until_they_declare_wider_types(self, project, table):
        run = dbt("build")
        assert {result.status for result in run.results.values()} == {"success"}
        reached = document("plan", "--vars", json.dumps(WIDE))["downstream"]
        effects = [effect for effect in reached if effect["kind"] == "function"]
        assert {(e["name"], e["outcome"], *e["because"]) for e in effects} == {
            ("net", "casts back until it is updated", "through"),
            ("same", "casts back until it is updated", "through"),
            ("returned", "casts back until it is updated", "through"),
            ("largest", "casts back until it is updated", "restored"),
        }
        rounded = json.dumps({"amount": "1.245", "amount_type": "decimal(12,4)"})
        arguments = {"models": ["restored"], "unique_key": ["n"]}
        printed = operate("restore_values", "--vars", rounded, **arguments)
        assert table("restored").rows("amount") == [(Decimal("1.2450"),)]
        assert "  largest\n    it returns decimal(8,2); amount: decimal(8,2) -> " in printed
        run = dbt("run", "--warn-error", **WIDE)
        assert run.status("reader") == "success", run.message("reader")
        assert "    its argument amount is decimal(8,2); amount: decimal(8,2) -> " in run.output
        assert "    its argument n is int; n: int -> bigint" in run.output
        assert "  returned\n    it returns decimal(8,2); amount: decimal(8,2) -> " in run.output
        # This is why: Spark does not tell a session without ANSI mode.
        rows = table("reader").rows("amount", "n", "returned")
        assert (Decimal("1.24"), 705032704, Decimal("1.24")) in rows
        with open(f"{project.project_root}/functions/functions.yml", "w", encoding="utf-8") as file:
            file.write(FUNCTIONS.format("decimal(12,4)"))
        run = dbt("build", "--select", "net+", **WIDE)
        assert run.status("reader") == "success", run.message("reader")
        assert Decimal("1.2367") in [row[0] for row in table("reader").rows("amount")]
