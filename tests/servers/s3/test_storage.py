"""What is special about S3: who may write, and the keys of its settings."""

from pathlib import Path

import pytest
from dbt_common.exceptions.events import EventCompilationError

from tests.functional.support import dbt
from tests.servers.object_storage import ACCESS_KEY, SECRET_KEY
from tests.servers.postgresql import PASSWORD

MODEL = """
{{ config(materialized='incremental', on_schema_change='append_new_columns',
          type_widening=true) }}
select cast(1 as {{ var('type', 'smallint') }}) as n
"""


@pytest.fixture(scope="class")
def models() -> dict[str, str]:
    return {"orders.sql": MODEL}


class TestOneDriver:
    def test_a_run_is_warned(self, project):
        run = dbt("run")
        assert run.output.count("only one driver at a time") == 1
        assert run.status("orders") == "success"

    def test_a_run_with_warn_error_stops_before_it_writes(self, project, table):
        version = len(table("orders").history)
        with pytest.raises(EventCompilationError, match="only one driver at a time"):
            dbt("--warn-error", "run", type="int")
        assert len(table("orders").history) == version
        assert table("orders").types == {"n": "smallint"}

    def test_a_run_that_widens_is_exact(self, project, table):
        dbt("run", type="int")
        assert table("orders").types == {"n": "int"}
        assert table("orders").rows("n") == [(1,), (1,)]


class TestSecrets:
    def test_are_in_no_log_and_in_no_argument(self, project, logs_dir):
        dbt("--debug", "run", "--log-level-file", "debug")
        folders = [Path(project.project_root), Path(logs_dir)]
        found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        written = [path for path in found if path.suffix != ".yml"]
        assert any(path.name == "dbt.log" for path in written)
        arguments = [path / "cmdline" for path in Path("/proc").iterdir() if path.name.isdigit()]
        for path in (*written, *arguments):
            content = read(path)
            for secret in (ACCESS_KEY, SECRET_KEY, PASSWORD):
                assert secret.encode() not in content, path


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # a process that has ended
        return b""
