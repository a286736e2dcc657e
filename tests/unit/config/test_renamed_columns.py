"""The configuration of renames: what is read, and what is not accepted."""

import pytest

from dbt.adapters.deltawiden.config.model_spec import read_model_spec
from dbt.adapters.deltawiden.config.renamed_columns import read_renames, rename_problems


def test_renames_are_read_from_the_configuration_and_from_the_columns_outer_fields_first():
    config = {"renamed_columns": {"address.zip": "postcode", "address": "addr", "my col": "`a.b`"}}
    columns = {
        "n": {"name": "n", "meta": {}, "config": {"meta": {"renamed_from": "m"}}},
        "o": {"name": "o", "meta": {"renamed_from": "p"}},
        "q": {"name": "q"},
    }
    assert list(read_renames(config, columns).items()) == [
        (("address",), "addr"),
        (("my col",), "a.b"),
        (("n",), "m"),
        (("o",), "p"),
        (("address", "zip"), "postcode"),
    ]
    assert read_model_spec(config, "orders", columns).renames == read_renames(config, columns)
    assert read_renames({}, {}) == {}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("a", "renamed_columns: got 'a'"),
        (["a"], "renamed_columns: got ['a']"),
        ({"b": 1}, "renamed_columns: b: got 1"),
        ({"b": ""}, "renamed_columns: b: got ''"),
        ({"s.b": "s.a"}, "renamed_columns: s.b: got 's.a'; accepted: by the new name"),
        ({"a": "b", "b": "a"}, "renamed_columns: a: got 'b', which is also a new name"),
        ({"b": "a", "c": "B"}, "renamed_columns: c: got 'B', which is also a new name"),
        ({"A": "a"}, "renamed_columns: A: got 'a', which is also a new name"),
        ({"b": "a", "c": "a"}, "renamed_columns: c: one of its names is in two renames"),
    ],
)
def test_what_is_not_accepted_is_named(given, words):
    assert words in "\n".join(rename_problems({"renamed_columns": given}))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("unique_key", "AMT"),
        ("unique_key", ["id", "amt"]),
        ("merge_update_columns", ["amt"]),
        ("merge_exclude_columns", "amt"),
        ("partition_by", ["amt"]),
        ("liquid_clustered_by", "id, amt.x"),
        ("zorder", "id, amt"),
        ("zorder_by", ["amt"]),
        ("check_cols", ["`amt`"]),
        ("updated_at", "amt"),
        ("event_time", "amt"),
        ("predicates", ["day > 1", "Amt > 1 -- the amount"]),
        ("incremental_predicates", "DBT_INTERNAL_DEST.amt > 0 and day = 1"),
        ("matched_condition", "DBT_INTERNAL_SOURCE.`AMT`.x <> 1"),
        ("not_matched_by_source_action", "update set amt = 0, day = 1"),
        ("not_matched_by_source_condition", "exists(amt, x -> x > 1)"),
    ],
)
def test_a_key_that_still_has_an_old_name_is_named(key, value):
    config = {"renamed_columns": {"amount": "amt"}, key: value}
    (found,) = rename_problems(config)
    assert found.startswith(f"{key}: got ")
    assert found.endswith("the old name of amount")
    assert rename_problems({**config, key: "amount"}) == []


def test_a_table_property_that_still_has_an_old_name_is_named():
    config = {"renamed_columns": {"amount": "amt"}}
    properties = {"delta.dataSkippingStatsColumns": "id,Amt.x"}
    (found,) = rename_problems({**config, "tblproperties": properties})
    assert found.startswith("tblproperties: delta.dataSkippingStatsColumns: got 'Amt.x'")


def test_a_condition_names_the_field_of_an_element_without_the_word_element():
    config = {"renamed_columns": {"items.element.qty": "quantity"}}
    texts = ["array_contains(items.quantity, 3)", "items.qty[0] > 1", "quantity > 1"]
    (found,) = rename_problems({**config, "incremental_predicates": texts})
    assert (
        "got 'array_contains(items.quantity, 3)', with the old name of items.element.qty" in found
    )


@pytest.mark.parametrize(
    "text",
    [
        "s.amt > 1",
        "name = 'amt' -- amt",
        "amounts.amt.x > 1",
        "day > (select max(amt) from stage)",
        "not a condition (amt",
    ],
)
def test_a_condition_with_a_word_that_is_not_the_old_column_is_accepted(text):
    config = {"renamed_columns": {"amount": "amt"}, "incremental_predicates": [text]}
    assert rename_problems(config) == []


@pytest.mark.parametrize(("materialized", "problems"), [("table", 0), ("incremental", 2)])
def test_what_each_run_makes_again_has_no_renames(materialized: str, problems: int):
    columns = {name: {"meta": {"renamed_from": "name"}} for name in ("first", "last")}
    assert len(rename_problems({"materialized": materialized}, columns)) == problems
