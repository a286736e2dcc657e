"""How a model's configuration says what its table is clustered by, and what has no effect."""

from typing import Any

import pytest
from dbt_common.events.event_manager_client import add_callback_to_manager
from dbt_common.invocation import reset_invocation_id

from dbt.adapters.deltawiden.config.clustering import (
    bucket_problems,
    changed_clustering,
    clustering_problems,
    read_clustering,
    warn_without_effect,
)
from tests.unit.schemas import table_snapshot


@pytest.mark.parametrize(
    ("given", "columns"),
    [
        (None, None),
        ("", None),
        ([], ()),
        ((), ()),
        ("id", (("id",),)),
        ("id, s.x", (("id",), ("s", "x"))),
        (["id", "s.x"], (("id",), ("s", "x"))),
        (["my-col", "`a.b`", "`t``k`.x"], (("my-col",), ("a.b",), ("t`k", "x"))),
        ("days(at)", (("days(at)",),)),
    ],
)
def test_names_are_read_as_those_of_other_keys(given, columns):
    assert read_clustering({"liquid_clustered_by": given}) == columns


@pytest.mark.parametrize(
    ("wanted", "found", "changed"),
    [
        (None, (("a",),), None),
        ((), (), None),
        ((), (("a",),), ()),
        ((("A",), ("S", "x")), (("a",), ("s", "X")), None),
        ((("s", "x"), ("a",)), (("a",), ("s", "x")), (("s", "x"), ("a",))),
        ((("s.x",),), (("s", "x"),), (("s.x",),)),
    ],
)
def test_a_table_is_clustered_anew_only_if_it_has_to_be(wanted, found, changed):
    assert changed_clustering(wanted, table_snapshot(clustering_columns=found)) == changed


def test_a_table_of_another_format_is_never_clustered():
    assert changed_clustering((("a",),), table_snapshot(format="parquet")) is None


def test_nothing_is_asked_if_the_key_is_not_set():
    table = table_snapshot()
    del vars(table)["clustering_columns"], vars(table)["properties"]
    assert changed_clustering(None, table) is None


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ({"liquid_clustered_by": "a"}, []),
        ({"liquid_clustered_by": "a", "partition_by": "b"}, ["partition_by"]),
        (
            {"liquid_clustered_by": "a", "partition_by": ["b"], "clustered_by": "c"},
            ["partition_by", "clustered_by"],
        ),
        ({"liquid_clustered_by": [], "partition_by": "b"}, []),
        ({"liquid_clustered_by": "a", "partition_by": []}, []),
        ({"liquid_clustered_by": "a", "file_format": "iceberg"}, ["file_format"]),
        ({"liquid_clustered_by": "a", "partition_by": "b", "materialized": "view"}, []),
    ],
)
def test_a_key_that_excludes_clustering_is_named_with_it(config: dict[str, Any], keys):
    problems = clustering_problems({"materialized": "table", **config})
    assert len(problems) == len(keys)
    for key, line in zip(keys, problems, strict=True):
        assert key in line
        assert "liquid_clustered_by" in line


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ({"clustered_by": "a", "buckets": 4}, 1),
        ({"clustered_by": "a"}, 0),
        ({"buckets": 4}, 0),
        ({"clustered_by": "a", "buckets": 4, "file_format": "parquet"}, 0),
    ],
)
def test_delta_has_no_buckets(config, count: int):
    problems = bucket_problems(config)
    assert len(problems) == count
    assert all("use liquid_clustered_by" in line for line in problems)


def test_a_key_without_effect_is_a_warning_once_a_run():
    told: list[str] = []
    add_callback_to_manager(lambda event: told.append(event.info.msg))
    config = {"materialized": "table", "clustered_by": "a", "auto_liquid_cluster": True}
    for without in ({"materialized": "view"}, {"file_format": "parquet"}):
        warn_without_effect({**config, **without}, "model.p.none")
    assert told == []
    for run in (1, 2):
        reset_invocation_id()
        for name in ("model.p.first", "model.p.second"):
            warn_without_effect(config, name)
        assert len(told) == 2 * run
    assert all("model.p.first" in text for text in told)
    assert "clustered_by has no effect on a Delta table: use liquid_clustered_by" in told[0]


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ({}, 1),
        ({"liquid_clustered_by": []}, 0),
        ({"incremental_strategy": "append"}, 0),
        ({"materialized": "table"}, 0),
    ],
)
def test_overwriting_a_clustered_table_is_a_warning(config: dict[str, Any], count: int):
    told: list[str] = []
    add_callback_to_manager(lambda event: told.append(event.info.msg))
    reset_invocation_id()
    overwrites = {"materialized": "incremental", "incremental_strategy": "insert_overwrite"}
    warn_without_effect({**overwrites, "liquid_clustered_by": ["a", "b"], **config}, "model.p.m")
    assert len(told) == count
    assert all("delete+insert with unique_key: ['a', 'b']" in text for text in told)
