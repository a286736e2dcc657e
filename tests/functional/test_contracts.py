"""An enforced contract holds on every run of an incremental model, and lets it widen."""

import pytest

from tests.functional.operate import document
from tests.functional.support import dbt, needs_delta_4

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='{mode}', type_widening=true) }}}}
select 1 as id, cast(1 as {{{{ var('output', 'int') }}}}) as n
"""
SCHEMA = """
models:
  - name: {name}
    config: {{contract: {{enforced: true}}}}
    columns:
      - {{name: id, data_type: int}}
      - {{name: n, data_type: "{{{{ var('contract', 'int') }}}}"}}
"""
MODES = ("append_new_columns", "fail")


class TestContracts:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{mode}.sql": MODEL.format(mode=mode) for mode in MODES}
        return {**models, **{f"{mode}.yml": SCHEMA.format(name=mode) for mode in MODES}}

    @needs_delta_4
    def test_it_is_checked_before_anything_is_changed(self, project, table):
        assert dbt("run").status("fail") == "success"
        versions = {mode: table(mode).version for mode in MODES}
        for planned in document("plan", "--vars", '{"output": "bigint"}')["tables"]:
            found = "The contract no longer matches.\nn: int in the contract, bigint in the query\n"
            assert planned["error"].startswith(f"{found}Do: dbt run-operation sync_contracts")
        broken = dbt("run", output="bigint")
        for mode in MODES:
            assert broken.status(mode) == "error"
            assert "This model has an enforced contract that failed" in broken.message(mode)
            assert table(mode).version == versions[mode]

        kept = dbt("run", output="bigint", contract="bigint")
        assert kept.status("append_new_columns") == "success"
        assert table("append_new_columns").types["n"] == "bigint"
        # The contract has the wider type, but the mode is fail.
        assert kept.status("fail") == "error"
        assert "bigint" in kept.message("fail")
        assert table("fail").version == versions["fail"]


CONSTRAINED = """
{{ config(materialized="incremental", incremental_strategy=var("strategy", "append"),
          unique_key="id", on_schema_change="append_new_columns", type_widening=true) }}
select cast({{ var('id', 1) }} as {{ var('output', 'int') }}) as id, {{ var('n', 1) }} as n,
  "it's \\\\ ${env:HOME}" as `to-day`
"""
CONSTRAINTS = """
models:
  - name: constrained
    config: {contract: {enforced: true}}
    constraints:
      - {type: check, expression: "n <> 13", name: "no 13"}
      - {type: primary_key, columns: [id], warn_unsupported: false}
    columns:
      - name: id
        data_type: "{{ var('output', 'int') }}"
        constraints: [{type: not_null}, {type: unique}]
      - name: n
        data_type: int
        constraints: [{type: check, expression: "n < 100"}]
      - name: to-day
        quote: true
        data_type: string
        constraints: [{type: check, expression: "`to-day` <> 'it\\\\'s'"}]
"""


UPDATED = """
{{ config(materialized="incremental", incremental_strategy="merge", unique_key="id",
          on_schema_change="fail", merge_update_columns=["n"], skip_not_matched_step=true) }}
select 1 as other, 1 as id, cast({{ var('n', 1) }} as int) as n
"""
UPDATED_YML = """
models:
  - name: updated
    config: {contract: {enforced: true}}
    constraints:
      - {type: not_null, columns: [n]}
      - {type: check, expression: "n is null or n < 100"}
    columns:
      - {name: other, data_type: int}
      - {name: id, data_type: int, quote: true}
      - {name: n, data_type: int}
"""


WITHOUT_EXPRESSION_YML = """
models:
  - name: unclear
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: int, constraints: [{type: check}]}
"""


class TestConstraints:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "unclear.sql": "{{ config(materialized='table') }} select 1 as id",
            "unclear.yml": WITHOUT_EXPRESSION_YML,
            "constrained.sql": CONSTRAINED,
            "constrained.yml": CONSTRAINTS,
            "updated.sql": UPDATED,
            "updated.yml": UPDATED_YML,
        }

    def test_a_check_without_a_condition_is_an_error_that_says_what_to_do(self, project):
        message = dbt("run", "--select", "unclear").message("unclear")
        assert "Compilation Error in model unclear" in message
        assert "for column id that checks nothing: type: check without expression" in message

    def test_one_of_the_model_is_checked_if_not_every_column_is_written(self, project, table):
        assert dbt("run", "--select", "updated").status("updated") == "success"
        run = dbt("run", "--select", "updated", n="null")
        assert "a null in n, which is not_null" in run.message("updated")
        run = dbt("run", "--select", "updated", n=100)
        assert "breaks the check of its contract: n is null" in run.message("updated")
        assert table("updated").rows() == [(1, 1, 1)]

    @needs_delta_4
    def test_no_row_that_breaks_one_is_stored(self, project, table):
        # The first run has no table.
        assert "which is not_null" in dbt("run", id="null").message("constrained")
        first = dbt("run")
        assert first.status("constrained") == "success"
        assert "Delta has no unique constraint: the one of column id" in first.output
        assert "primary_key" not in first.output

        version = table("constrained").version
        for strategy in ("append", "merge"):
            for bad, expected in (
                ({"id": "null"}, "a null in id, which is not_null in its contract"),
                ({"n": 100}, "breaks the check of its contract: n < 100"),
                ({"n": "cast(null as int)"}, "breaks the check no 13 of its contract: n <> 13"),
                ({"n": 13}, "breaks the check no 13 of its contract: n <> 13"),
            ):
                run = dbt("run", strategy=strategy, **bad)
                assert expected in run.message("constrained")
        # A table that a full refresh would replace stays as it was.
        assert dbt("run", "--full-refresh", n=13).status("constrained") == "error"
        assert table("constrained").version == version
        assert table("constrained").properties["delta.constraints.no 13"] == "n <> 13"

    @pytest.mark.slow
    @needs_delta_4
    def test_a_constraint_of_a_column_does_not_stop_it_from_widening(self, project, table):
        assert dbt("run", "--full-refresh").status("constrained") == "success"
        widened = dbt("run", output="bigint", id=2**40)
        assert widened.status("constrained") == "success", widened.output
        assert table("constrained").types["id"] == "bigint"
        assert (2**40, 1) in table("constrained").rows("id", "n")


UNSUPPORTED = """
models:
  - name: warned
    config: {contract: {enforced: true}}
    constraints:
      - {type: primary_key, columns: [id]}
      - {type: check, expression: "id > 0"}
      - {type: check, expression: "id > 0"}
      - {type: check, expression: "id < 9", name: Small}
    columns: [{name: id, data_type: int, constraints: [{type: unique}]}]
  - name: ambiguous
    config: {contract: {enforced: true}}
    constraints:
      - {type: check, expression: "id > 0", name: small}
      - {type: check, expression: "id < 9", name: Small}
    columns: [{name: id, data_type: int}]
"""


class TestConstraintsOfANewTable:
    @pytest.fixture(scope="class")
    def models(self):
        config = "materialized='incremental', on_schema_change='fail'"
        query = f"{{{{ config({config}) }}}} select 1 as id"
        models = {f"{name}.sql": query for name in ("warned", "ambiguous")}
        return {**models, "schema.yml": UNSUPPORTED}

    def test_an_error_of_one_that_delta_lacks_comes_before_the_table(self, project, table, spark):
        """A later run would not add the checks that are still missing."""
        run = dbt("--warn-error", "run", "--select", "warned")
        assert "Delta has no primary_key constraint: the one of the model" in run.message("warned")
        assert not spark.catalog.tableExists(table("warned").name)
        run = dbt("run", "--select", "warned")
        assert run.status("warned") == "success", run.message("warned")
        expected = "model.test.warned: Delta has no unique constraint: the one of column id"
        assert expected in " ".join(run.output.split())
        found = {k: v for k, v in table("warned").properties.items() if "constraints" in k}
        assert sorted(found.values()) == ["id < 9", "id > 0"]
        assert "delta.constraints.small" in found

    def test_two_checks_of_one_name_are_refused_before_the_table(self, project, table, spark):
        run = dbt("run", "--select", "ambiguous")
        expected = "has two checks with the name Small: id > 0, and id < 9"
        assert expected in run.message("ambiguous")
        assert not spark.catalog.tableExists(table("ambiguous").name)
