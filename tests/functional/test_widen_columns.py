"""`dbt run-operation widen_columns` makes the changes that no run makes."""

import json

import pytest

from tests.functional.support import dbt


class TestWidenColumns:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "prices.sql": """
{{ config(materialized='incremental', on_schema_change='append_new_columns') }}
select {{ var('step', 1) }} as id, cast(1 as int) as amount, cast(2 as smallint) as weight,
  named_struct('x', cast(1 as int)) as s
"""
        }

    @pytest.fixture(autouse=True)
    def fresh_table(self, project):
        dbt("run", "--full-refresh")

    def widen(self, **arguments):
        return dbt("run-operation", "widen_columns", "--args", json.dumps(arguments))

    def test_all_columns_of_a_table_are_widened_in_one_commit(self, project, table):
        before = table("prices").version
        run = self.widen(
            models=["prices"],
            columns={"AMOUNT": "decimal(12,2)", "weight": "double", "s.x": "bigint"},
        )
        assert "amount: int -> decimal(12,2), weight: smallint -> double" in run.output
        types = table("prices").types
        assert types["amount"] == "decimal(12,2)"
        assert types["weight"] == "double"
        assert types["s"] == "struct<x:bigint>"
        assert table("prices").operations(since=before) == ["SET TBLPROPERTIES", "CHANGE COLUMNS"]
        assert table("prices").user_metadata("CHANGE COLUMNS")["changed_by"] == "widen_columns"

    def test_a_second_call_changes_nothing(self, project, table):
        name = f"{project.test_schema}.prices"
        self.widen(relations=[name], columns={"weight": "int"})
        before = table("prices").version
        run = self.widen(relations=[name], columns={"weight": "int"})
        assert "has these types already" in run.output
        assert table("prices").version == before

    def test_a_dry_run_prints_the_statements_and_changes_nothing(self, project, table):
        before = table("prices").version
        run = self.widen(models=["prices"], columns={"weight": "int"}, dry_run=True)
        assert "alter column `weight` type int" in run.output
        assert table("prices").version == before

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"models": ["prices"], "columns": {"amount": "smallint"}}, "amount: int -> smallint"),
            ({"models": ["prices"], "columns": {"amount": "tinyint"}}, "can't get the requested"),
            ({"models": ["prices"], "columns": {"amounts": "bigint"}}, "there are: id, amount, "),
            ({"models": ["prices"], "columns": {"amount": "big"}}, "'big' is not an atomic type"),
            ({"models": ["prices"], "columns": {"s": "bigint"}}, "name one of: s.x"),
            ({"models": ["price"], "columns": {"amount": "bigint"}}, "no model, seed or snapshot"),
            ({"relations": ["x.y"], "columns": {"amount": "bigint"}}, "there is no table 'x.y'"),
            ({"relations": ["a.b.c"], "columns": {"amount": "bigint"}}, "not a catalog that Spark"),
            ({"relations": ["a.b.c.d"], "columns": {"amount": "bigint"}}, "write catalog.schema"),
            ({"columns": {"amount": "bigint"}}, "say which tables"),
            ({"models": ["prices"]}, "`columns` must say which type"),
        ],
    )
    def test_an_impossible_request_is_refused_and_nothing_changes(
        self, project, table, arguments, expected
    ):
        before = table("prices").version
        run = self.widen(**arguments)
        assert expected in run.output
        assert table("prices").version == before
