"""An error of Spark or Delta: its condition and message, and no Java."""

from pathlib import Path

import pytest

from tests.functional.support import dbt

TABLE = "{{ config(materialized='table') }} "


class TestErrors:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            # Refused while the statement is analysed, while it runs, and by Delta.
            "analysed.sql": TABLE + "select nothing_of_the_kind from range(1)",
            "running.sql": TABLE + "select cast(raise_error('stop here') as string) as x",
            # Java's own error, below Spark's.
            "in_java.sql": TABLE
            + "select java_method('java.lang.Integer', 'parseInt', 'a' || id) as x from range(1)",
            "by_delta.sql": """
{{ config(materialized='incremental', tblproperties={'delta.appendOnly': 'true'},
          incremental_strategy='insert_overwrite') }}
select 1 as id
""",
        }

    def test_conditions_and_messages_without_a_java_stack(self, project, logs_dir):
        dbt("run")
        run = dbt("run")
        assert "[UNRESOLVED_COLUMN" in run.message("analysed")
        assert "nothing_of_the_kind" in run.message("analysed")
        assert "stop here" in run.message("running")
        assert 'Caused by: For input string: "a0"' in run.message("in_java")
        assert "[DELTA_CANNOT_MODIFY_APPEND_ONLY]" in run.message("by_delta")
        for java in ("\tat ", "Py4J", "py4j", "java.lang", "org.apache.spark", "Traceback"):
            assert java not in run.output
        # The stack is kept for whoever looks for it.
        assert "\tat org.apache.spark" in (Path(logs_dir) / "dbt.log").read_text()

    def test_show_reads_no_more_rows_than_asked_for(self, project):
        run = dbt("show", "--inline", "select id from range(100)", "--limit", "2")
        assert "|  1 |" in run.output
        assert "|  2 |" not in run.output
