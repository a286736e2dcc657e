"""The user metadata of commits that a profile or a hook sets is there again after our own."""

import json

import pytest

from dbt.adapters.deltawiden.delta.backends.sql import USER_METADATA, SqlBackend
from tests.functional.support import dbt

CHANGING = """
{{ config(materialized='incremental', on_schema_change='sync_all_columns', type_widening=true,
          tblproperties={'delta.columnMapping.mode': 'name'}) }}
{% if var('step') == 1 %} select cast(1 as int) as id, 1 as old
{% else %} select cast(2 as bigint) as id {% endif %}
"""


@pytest.fixture
def backend(project):
    """Statements alone, as on a Thrift server, with a session of their own."""
    with project.adapter.connection_named("master"):
        handle = project.adapter._handle()
        with handle.with_setting("spark.sql.session.timeZone", "UTC"):
            yield SqlBackend(project.adapter.execute, project.adapter._handle)


@pytest.mark.parametrize("own", [None, "team=a, b;c", '{"k": "it\'s"}', "007", "a`b\nc"])
def test_is_restored(backend, own):
    def metadata() -> str | None:
        # With its first setting, the connection gets a copy of the session.
        return backend._handle().session.conf.get(USER_METADATA, None)

    if own is not None:
        backend._handle().session.conf.set(USER_METADATA, own)
    for changed_by in ("model.x.first", "model.x.second"):
        with backend.tagged_commits(changed_by):
            assert json.loads(metadata())["changed_by"] == changed_by
        assert metadata() == own


class TestCommentBehindStatements:
    """`query-comment` with `append` writes dbt's comment behind each statement."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"query-comment": {"comment": "by dbt", "append": True}}

    @pytest.fixture(scope="class")
    def models(self):
        return {"first.sql": CHANGING}

    @pytest.mark.usefixtures("by_sql_alone")
    def test_every_statement_runs(self, project, table):
        for step in (1, 2):
            run = dbt("run", step=step)
            assert run.status("first") == "success", run.message("first")
        # The column is dropped after the write.
        assert table("first").types == {"id": "bigint"}
        changed_by = {"changed_by": "model.test.first"}
        assert table("first").user_metadata("DROP COLUMNS").items() >= changed_by.items()
