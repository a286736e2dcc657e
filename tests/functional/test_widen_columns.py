"""`dbt run-operation widen_columns` makes the changes that no run makes."""

import json

import pytest

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.widening.steps import WidenFloats
from tests.functional.operate import read_document
from tests.functional.support import dbt, needs_delta_4


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

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        dbt("run")

    @pytest.fixture
    def made_again(self, built):
        """For a test that changes the table."""
        yield
        dbt("run", "--full-refresh")

    def widen(self, **arguments):
        return dbt("run-operation", "widen_columns", "--args", json.dumps(arguments))

    def test_all_columns_of_a_table_are_widened_in_one_commit(self, made_again, table):
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

    def test_a_second_call_changes_nothing(self, project, made_again, table):
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


@needs_delta_4
class TestHalfway:
    def test_a_failed_command_names_the_changes_that_stay(self, project, table, spark, monkeypatch):
        half = table("half")
        spark.sql(
            f"create table {half.name} (n int, f float) using delta "
            "tblproperties ('delta.enableTypeWidening' = 'true')"
        )
        spark.sql(f"insert into {half.name} values (1, 0.7)")
        spark.sql(f"create view {half.name}_seen as select n from {half.name}")
        run_step = WidenFloats.run

        def constrained(self: WidenFloats, backend: SqlBackend) -> None:
            # Another writer adds the constraint after the plan is made.
            spark.sql(f"alter table {half.name} add constraint c check (f > 0)")
            run_step(self, backend)

        monkeypatch.setattr(WidenFloats, "run", constrained)
        columns = {"n": "bigint", "f": "double"}
        run = dbt(
            "run-operation",
            "widen_columns",
            "--args",
            json.dumps({"relations": [half.name], "columns": columns, "output": "json"}),
        )
        assert half.types == {"n": "bigint", "f": "float"}
        (found,) = read_document(run.output)["tables"]
        assert found["type_changes"] == [{"path": ["n"], "from": "int", "to": "bigint"}]
        assert "Type changes already made stay: n: int -> bigint" in found["error"]
        assert "half_seen" in run.output.split("stay: n")[0]

    def test_a_command_that_restores_settings_says_only_that(self, project, table, spark):
        saved = table("saved")
        spark.sql(
            f"create table {saved.name} (x double) using delta tblproperties "
            """('dbt_deltawiden.statisticsBefore' = '{"delta.dataSkippingNumIndexedCols": null}',
            'delta.dataSkippingNumIndexedCols' = '0')"""
        )
        given = {"relations": [saved.name], "columns": {"x": "double"}}
        shown = dbt("run-operation", "widen_columns", "--args", json.dumps(given)).output
        assert "has these types already, its settings of statistics are restored" in shown
        assert "delta.dataSkippingNumIndexedCols" not in saved.properties
