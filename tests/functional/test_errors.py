"""An error of Spark or Delta has its condition and its message, and no Java stack."""

import re
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
            # Spark's message comes from an error of a library, which has no condition.
            "in_library.sql": TABLE + "select xpath_string('<a>' || id, 'a') as x from range(1)",
            "by_delta.sql": """
{{ config(materialized='incremental', tblproperties={'delta.appendOnly': 'true'},
          incremental_strategy='insert_overwrite') }}
select 1 as id
""",
        }

    def test_errors_have_a_condition_and_a_message_and_no_java_stack(self, project, logs_dir):
        dbt("run", "--exclude", "in_library")
        run = dbt("run", "--exclude", "in_library")
        assert "[UNRESOLVED_COLUMN" in run.message("analysed")
        assert "nothing_of_the_kind" in run.message("analysed")
        assert "stop here" in run.message("running")
        assert "[DELTA_CANNOT_MODIFY_APPEND_ONLY]" in run.message("by_delta")
        for java in ("\tat ", "Py4J", "py4j", "java.lang", "org.apache.spark", "Traceback"):
            assert java not in run.output
        # dbt's log has the stack.
        assert "\tat org.apache.spark" in (Path(logs_dir) / "dbt.log").read_text()

    def test_the_deepest_cause_is_shown(self, project):
        message = dbt("run", "-s", "in_library").message("in_library")
        assert re.search("\n +Caused by: .*XML document structures must start and end", message)

    def test_show_reads_no_more_rows_than_its_limit(self, project):
        run = dbt("show", "--inline", "select id from range(100)", "--limit", "2")
        assert "|  1 |" in run.output
        assert "|  2 |" not in run.output
