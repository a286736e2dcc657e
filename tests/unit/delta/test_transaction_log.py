"""The schema that SQL reads from a table's transaction log."""

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.transaction_log import changed_schemas, newest_schema
from tests.unit.delta.answers import CHECKPOINTS, COMMITS, answering, column, commit, schema_string


def test_the_newest_commit_with_metadata_has_the_schema():
    run_query, queries = answering(commit(schema_string(column("größe"))))
    assert newest_schema("file:/w/t", run_query) == schema_string(column("größe"))
    assert queries == [COMMITS.format("file:/w/t")]


def test_a_checkpoint_is_read_only_if_no_commit_has_metadata():
    run_query, queries = answering([], [(schema_string(column("a")),)])
    assert newest_schema("file:/w/t", run_query) == schema_string(column("a"))
    assert queries == [COMMITS.format("file:/w/t"), CHECKPOINTS.format("file:/w/t")]


def test_a_log_without_a_schema_is_an_error_that_names_the_folder():
    run_query, queries = answering([], [])
    with pytest.raises(DbtRuntimeError, match="no schema in the Delta log of s3a://b/t"):
        newest_schema("s3a://b/t", run_query)
    assert len(queries) == 2


def test_a_checkpoint_has_the_type_changes_of_commits_that_are_gone():
    run_query, queries = answering([("7", '["a"]')], [("b",)])
    assert changed_schemas("file:/w/t", run_query, "an-id") == ["a", "b"]
    assert all("'an-id'" in query for query in queries)
    run_query, queries = answering([(0, "[]")])
    assert changed_schemas("file:/w/t", run_query) == []
    assert len(queries) == 1


@pytest.mark.parametrize(
    ("location", "folder"),
    [
        ("file:/w/t", "file:/w/t"),
        ("s3a://b/t/", "s3a://b/t"),
        ("/w/my t", "/w/my t"),
        ("/w/t'--%20$1,^#\"", "/w/t'--%20$1,^#\""),
        ("/w/größe🙂", "/w/größe🙂"),
        ("/w/[t]", r"/w/\[t\]"),
        ("/w/{a,b}", r"/w/\{a,b\}"),
        ("/w/*?", r"/w/\*\?"),
        ("/w/a\\b", r"/w/a\\b"),
        ("/w/a`b", "/w/a``b"),
        ("/w/`[`", r"/w/``\[``"),
    ],
)
def test_the_log_of_a_table_with_any_path_is_read(location: str, folder: str):
    run_query, queries = answering([], [(schema_string(),)])
    newest_schema(location, run_query)
    assert queries == [COMMITS.format(folder), CHECKPOINTS.format(folder)]
