"""`rewrite_widened_files` of a model: the run that widens a column also rewrites older files."""

import json
import re
import shlex
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends import jvm_files
from tests.functional.operate import document
from tests.functional.parquet import stored_types
from tests.functional.plain_spark import count, plain
from tests.functional.support import Table, dbt, needs_delta_4

pytestmark = needs_delta_4

MODEL = """
{{{{ config(materialized='incremental', on_schema_change='append_new_columns',
            type_widening=true, {config}) }}}}
select cast({{{{ var('id', 1) }}}} as int) as id,
    cast('1.25' as decimal({{{{ var('digits', 8) }}}}, 2)) as amount
"""
SNAPSHOT = """
{% snapshot kept %}
{{ config(strategy='check', unique_key='id', check_cols=['amount'], type_widening=true) }}
select {{ var('id', 1) }} as id, cast('1.25' as decimal({{ var('digits', 8) }}, 2)) as amount
{% endsnapshot %}
"""
NAME = "rewrite_widened_files"
BEYOND = "amount < 9000000000.00"
REWRITE = "Manual Update"


def found(table: Table) -> int:
    """Count the rows that a filter of a Spark with the default settings finds."""
    return count(plain(table.spark), table.name, BEYOND)


def reported(table: Table) -> dict[str, Any]:
    (found,) = document("report_type_widening", relations=[table.name])["tables"]
    return found


class TestAfterRun:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "by_default.sql": MODEL.format(config=""),
            "never.sql": MODEL.format(config="rewrite_widened_files=false"),
            "small.sql": MODEL.format(config="rewrite_widened_files='100b'"),
            "merged.sql": MODEL.format(
                config="rewrite_widened_files='1gb', incremental_strategy='merge', unique_key='id'"
            ),
            "wrong.sql": MODEL.format(config="rewrite_widened_files='12 parsecs', tags=['wrong']"),
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"kept.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def first(self, project):
        first = dbt("build", "--exclude", "wrong")
        assert {result.status for result in first.results.values()} == {"success"}
        return first

    @pytest.fixture(scope="class")
    def planned(self, first):
        variables = json.dumps({"digits": 12, "id": 2})
        return document("plan", "--vars", variables, models=["by_default", "never"])

    @pytest.fixture(scope="class")
    def second(self, planned):
        return dbt("build", "--exclude", "wrong", digits=12, id=2)

    def test_the_older_files_are_rewritten_in_a_commit_that_changes_no_row(self, second, table):
        for name in ("by_default", "merged", "kept"):
            t = table(name)
            assert second.status(name) == "success"
            assert t.operations(since=0)[-1] == REWRITE
            assert t.operations(since=0).count(REWRITE) == 1
            assert found(t) == 2
            assert len(stored_types(t.spark, t.name, "amount")) == 1
            assert second.response(name)["rewritten_files"] == 1
            line = rf"{name}`: rewrote 1 file \([\d.]+ k?B\) from before the change of amount, so"
            assert re.search(line, second.output)
        assert table("by_default").user_metadata(REWRITE)["changed_by"] == "model.test.by_default"

    @pytest.mark.slow
    def test_the_next_run_only_writes(self, second, table):
        before = table("by_default").version
        assert dbt("run", "-s", "by_default", digits=12, id=3).status("by_default") == "success"
        assert table("by_default").operations(since=before) == ["WRITE"]

    @pytest.mark.slow
    def test_where_they_are_not_rewritten_the_run_says_what_another_spark_needs(
        self, second, table
    ):
        for name, why in (("never", ". In"), ("small", ", because they have ")):
            assert REWRITE not in table(name).operations(since=0)
            assert found(table(name)) == 1
            (line,) = [
                line for line in second.output.splitlines() if f"{name}`: files from before" in line
            ]
            assert f"were not rewritten{why}" in line
            assert "spark.sql.parquet.filterPushdown.decimal=false" in line
            assert "spark.sql.parquet.pushdown.inFilterThreshold=0" in line
            assert second.response(name)["rewritten_files"] == 0
        assert reported(table("small"))["filters_miss_rows"] is True
        assert NAME in reported(table("small"))["filters"]
        command = shlex.split(line.partition("these files: dbt ")[2])
        dbt(*command)
        assert found(table("small")) == 2
        for name in ("small", "by_default"):
            told = reported(table(name))
            assert (told["filters_miss_rows"], told["filters"]) == (False, "")

    @pytest.mark.slow
    def test_a_plan_says_so_before_the_run_if_the_run_will_not_rewrite_them(self, planned):
        will, will_not = planned["tables"]
        assert "filters" not in will
        assert "In filters on amount, a Spark without " in will_not["filters"]
        assert "dbt run-operation rewrite_widened_files" in will_not["filters"]

    @pytest.mark.slow
    def test_a_wrong_value_is_named_before_anything_runs(self, second):
        run = dbt("run", "-s", "wrong")
        assert run.status("wrong") == "error"
        assert (
            "rewrite_widened_files: got '12 parsecs'; accepted: true, false, or a size such as "
            "256mb" in run.message("wrong")
        )

    @pytest.mark.slow
    def test_a_rewrite_that_fails_does_not_fail_the_run(self, second, table, monkeypatch):
        assert dbt("run", "-s", "by_default", "--full-refresh").status("by_default") == "success"

        def stop(*_: object) -> None:
            raise DbtRuntimeError("no disk")

        monkeypatch.setattr(jvm_files.FilesByJvm, "_rewrite", stop)
        run = dbt("--warn-error", "run", "-s", "by_default", digits=12, id=2)
        assert run.status("by_default") == "success"
        assert len(table("by_default").rows()) == 2
        _, _, warning = run.output.partition("`by_default` from before the widening were not all ")
        assert warning.startswith("rewritten: no disk")
        assert "dbt run-operation rewrite_widened_files" in warning

    @pytest.mark.slow
    def test_they_are_rewritten_also_if_the_write_fails_after_the_widening(self, second, table):
        assert dbt("run", "-s", "by_default", "--full-refresh").status("by_default") == "success"
        run = dbt("run", "-s", "by_default", digits=12, id="raise_error('no row')")
        assert "no row" in run.message("by_default")
        assert table("by_default").types["amount"] == "decimal(12,2)"
        assert table("by_default").operations(since=0)[-1] == REWRITE
        assert found(table("by_default")) == 1


@pytest.mark.usefixtures("by_sql_alone")
class TestBySqlAlone:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "by_default.sql": MODEL.format(config=""),
            "asked.sql": MODEL.format(config="rewrite_widened_files=true"),
        }

    @pytest.mark.slow
    def test_every_row_is_updated_only_if_the_model_asks_for_it(self, project, table):
        # On a server, each thread has a session of its own. Here, all threads have the same one.
        dbt("run", "--threads", "1")
        run = dbt("run", "--threads", "1", digits=12, id=2)
        assert "UPDATE" not in table("by_default").operations(since=0)
        assert "because they can only be rewritten by UPDATE of the whole table" in run.output
        assert table("asked").operations(since=0)[-1] == "UPDATE"
        assert (found(table("by_default")), found(table("asked"))) == (1, 2)
        told = reported(table("by_default"))
        assert told["filters_miss_rows"] is None
        assert "SQL can't tell" in told["filters"]
