"""Which commits change data."""

import json

import pytest

from dbt.adapters.deltawiden.delta.history import Commit, last_data_change, read_history
from tests.unit.delta.answers import answering


def commit(operation: str, metrics: dict[str, str] | None = None, tag: str = "") -> Commit:
    return Commit(1, "2024-01-01 00:00:00", operation, metrics or {}, tag)


def tagged(changed_by: str) -> str:
    return json.dumps({"changed_by": changed_by, "dbt_deltawiden": "1.0"})


def row(version: int, operation: str, metrics: str | None = None) -> dict:
    return {
        "version": version,
        "timestamp": "t",
        "operation": operation,
        "operationMetrics": metrics,
        "userMetadata": None,
        "operationParameters": None,
    }


@pytest.mark.parametrize(
    "operation",
    [
        "CHANGE COLUMN",
        "CHANGE COLUMNS",
        "SET TBLPROPERTIES",
        "UPGRADE PROTOCOL",
        "OPTIMIZE",
        "VACUUM START",
        "VACUUM END",
        "COMPUTE STATS",
        "DROP FEATURE",
        "CREATE TABLE",
    ],
)
def test_metadata_and_the_layout_of_files_are_no_data(operation: str):
    assert not commit(operation, {"numRemovedFiles": "3"}).changes_data


@pytest.mark.parametrize(
    "operation",
    [
        "CREATE TABLE AS SELECT",
        "CREATE OR REPLACE TABLE AS SELECT",
        "REPLACE TABLE AS SELECT",
        "WRITE",
        "MERGE",
        "UPDATE",
        "DELETE",
        "TRUNCATE",
        "RESTORE",
        "CLONE",
        "CONVERT",
        "STREAMING UPDATE",
        "an operation of another program",
    ],
)
def test_any_other_operation_is_data_where_no_metric_denies_it(operation: str):
    assert commit(operation).changes_data


@pytest.mark.parametrize(
    ("operation", "metrics", "changes"),
    [
        ("WRITE", {"numOutputRows": "0", "numFiles": "1"}, False),
        ("WRITE", {"numOutputRows": "2"}, True),
        ("WRITE", {"numOutputRows": "0", "numRemovedFiles": "1"}, True),
        ("MERGE", {"numTargetRowsInserted": "0", "numTargetRowsUpdated": "0"}, False),
        ("MERGE", {"numTargetRowsInserted": "0", "numTargetRowsDeleted": "1"}, True),
        ("DELETE", {"numDeletedRows": "0", "numRemovedFiles": "0"}, False),
        ("DELETE", {"numRemovedFiles": "4"}, True),
        ("UPDATE", {"numUpdatedRows": "0", "numCopiedRows": "9"}, False),
        ("UPDATE", {"executionTimeMs": "9"}, True),
    ],
)
def test_the_metrics_say_whether_a_row_changed(operation: str, metrics: dict, changes: bool):
    assert commit(operation, metrics).changes_data is changes


@pytest.mark.parametrize(
    "operation",
    ["drop_type_widening", "repair_statistics", "rewrite_widened_files", "widen_columns"],
)
def test_a_rewrite_by_an_operation_of_ours_is_no_data(operation: str):
    assert not commit("UPDATE", {"numUpdatedRows": "5"}, tagged(operation)).changes_data
    assert not commit("Manual Update", {}, tagged(operation)).changes_data


def test_an_update_that_is_not_tagged_as_a_rewrite_of_ours_is_data():
    rows = {"numUpdatedRows": "5"}
    assert commit("UPDATE", rows, tagged("model.shop.orders")).changes_data
    assert commit("UPDATE", rows, json.dumps({"changed_by": "drop_type_widening"})).changes_data
    assert commit("UPDATE", rows, "not JSON").changes_data
    assert commit("UPDATE", rows, "[1]").changes_data


def test_the_newest_commit_that_changes_data_is_found():
    ask, queries = answering([row(3, "OPTIMIZE"), row(2, "WRITE", '{"numOutputRows": "1"}')])
    assert last_data_change("`s`.`t`", ask).version == 2
    assert queries == ["describe history `s`.`t` limit 50"]


def test_the_whole_history_is_read_only_if_it_is_needed():
    newest = [row(number, "OPTIMIZE") for number in range(99, 49, -1)]
    older = [row(49, "WRITE"), row(48, "CREATE TABLE")]
    ask, queries = answering(newest, [*newest, *older])
    assert last_data_change("t", ask).version == 49
    assert queries == ["describe history t limit 50", "describe history t"]


def test_the_data_is_at_least_as_old_as_the_oldest_commit_that_is_left():
    ask, _ = answering([row(7, "OPTIMIZE"), row(6, "SET TBLPROPERTIES")])
    assert last_data_change("t", ask).version == 6


@pytest.mark.parametrize("metrics", ['{"numFiles": "2"}', {"numFiles": 2}])
def test_metrics_are_read_as_a_map_or_as_its_text(metrics: object):
    ask, _ = answering([{**row(1, "WRITE"), "operationMetrics": metrics}])
    (found,) = read_history("t", ask)
    assert found.metrics == {"numFiles": "2"}
