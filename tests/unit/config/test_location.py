"""The folder of a table, and when two folders are one."""

import pytest

from dbt.adapters.deltawiden.config.location import Place, is_absolute, overlaps, table_folder


@pytest.mark.parametrize(
    ("config", "folder"),
    [
        ({}, None),
        ({"location_root": "/data"}, "/data/orders"),
        ({"location_root": "s3a://b/x//"}, "s3a://b/x/orders"),
        ({"location_root": "/data", "include_full_name_in_path": True}, "/data/c/shop/orders"),
    ],
)
def test_the_folder_of_a_table(config: dict[str, object], folder: str | None):
    assert table_folder(config, ("c", "shop"), "orders") == folder


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/data/x", "/DATA//x/"),
        ("/data/x", "file:/data/x"),
        ("file:///data/x", "/data/y/../x"),
        ("s3://b/x", "s3a://b/x"),
        ("hdfs://node:8020/x", "/x"),
        ("hdfs:///x", "hdfs://node:8020/x"),
    ],
)
def test_two_spellings_of_one_folder(first: str, second: str):
    assert Place.of(first).may_be(Place.of(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/data/x", "/data/y"),
        ("s3://a/x", "s3://b/x"),
        ("s3://b/x", "abfss://b/x"),
        ("/x%20", "/x "),
    ],
)
def test_two_folders(first: str, second: str):
    assert not Place.of(first).may_be(Place.of(second))


def test_nodes_overlap_if_one_is_inside_of_the_other():
    folders = {"a": "/r/x", "b": "/r/x/y/z", "c": "file:/r/X/", "d": "/r/xy", "e": "s3://r/x"}
    found = overlaps(folders)
    assert set(found) == {"a", "b", "c"}
    assert (found["b"] in ("a", "c"), found["a"] in ("b", "c")) == (True, True)


@pytest.mark.parametrize(
    ("folder", "expected"), [("/x", True), ("s3://b/x", True), ("x/y", False), ("./x", False)]
)
def test_a_relative_path_is_known(folder: str, expected: bool):
    assert is_absolute(folder) == expected
