"""The MERGE of a snapshot."""

from typing import Any

import pytest

from dbt.adapters.deltawiden.writing.snapshot_merge import snapshot_merge_sql

OWN = {name: name for name in ("dbt_scd_id", "dbt_valid_to", "dbt_updated_at")}
INSERTED = ["`id`", "`Big One`", "`n`", "`DBT_VALID_TO`"]


def merge(hard_deletes: str = "ignore", **config: Any) -> str:
    config = {"unique_key": "id", "strategy": "timestamp", "updated_at": "at", **config}
    merged = snapshot_merge_sql(config, OWN, "s.t", "rows", INSERTED, hard_deletes)
    return " ".join(merged.split())


def test_a_new_version_matches_no_row():
    assert (
        "on DBT_INTERNAL_SOURCE.dbt_scd_id = DBT_INTERNAL_DEST.dbt_scd_id and "
        "(DBT_INTERNAL_SOURCE.dbt_change_type in ('update', 'delete')) when matched"
    ) in merge("invalidate")


@pytest.mark.parametrize(
    ("key", "is_null"),
    [
        ("id", "DBT_INTERNAL_SOURCE.dbt_unique_key is null"),
        (["id"], "DBT_INTERNAL_SOURCE.dbt_unique_key_1 is null"),
        (
            ["a", "b"],
            "DBT_INTERNAL_SOURCE.dbt_unique_key_1 is null"
            " or DBT_INTERNAL_SOURCE.dbt_unique_key_2 is null",
        ),
    ],
)
def test_a_row_without_a_key_matches_its_version(key: Any, is_null: str):
    assert f"or ({is_null})) when matched" in merge(unique_key=key)


@pytest.mark.parametrize(
    ("checked", "compared"), [("all", ["`id`", "`Big One`", "`n`"]), (["big one"], ["`Big One`"])]
)
def test_a_row_without_a_key_matches_only_if_its_values_are_the_same(checked: Any, compared: list):
    for side in ("SOURCE", "DEST"):
        values = ", ".join(f"DBT_INTERNAL_{side}.{column}" for column in compared)
        assert f"to_json(struct({values}), map(" in merge(strategy="check", check_cols=checked)
    assert "to_json" not in merge(strategy="check", updated_at=None)


def test_a_current_row_can_have_a_value_for_the_end():
    current = "DBT_INTERNAL_DEST.dbt_valid_to is null or DBT_INTERNAL_DEST.dbt_valid_to = date('x')"
    assert f"and ({current}) then update" in merge(dbt_valid_to_current="date('x')")


def test_an_ended_version_keeps_its_generated_columns():
    config = {"unique_key": "id", "strategy": "timestamp", "updated_at": "at"}
    merged = snapshot_merge_sql(config, OWN, "s.t", "rows", INSERTED, "ignore", ["the day"])
    end = "dbt_valid_to = DBT_INTERNAL_SOURCE.dbt_valid_to"
    assert f"update set {end}, `the day` = DBT_INTERNAL_DEST.`the day`\n" in merged
