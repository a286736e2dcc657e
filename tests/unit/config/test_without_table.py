"""The configuration of what stores no rows."""

from typing import Any

import pytest

from dbt.adapters.deltawiden.config.validation import configuration_problems

OF_A_TABLE = {
    "partition_by": {"field": "d"},
    "buckets": "4",
    "options": ["a"],
    "location_root": 5,
    "tblproperties": ["delta.appendOnly"],
}


def problems(**config: Any) -> list[str]:
    return configuration_problems(config, lambda _: False)


@pytest.mark.parametrize("materialized", ["view", "ephemeral", "test", "unit", "function"])
def test_can_have_any_values_for_keys_of_tables(materialized: str):
    assert problems(materialized=materialized, **OF_A_TABLE) == []
    assert len(problems(materialized="table", **OF_A_TABLE)) == len(OF_A_TABLE)


def test_has_no_catalog_of_dbt_itself():
    assert "catalog_name: got 'lake'" in problems(materialized="view", catalog_name="lake")[0]


def test_has_settings_of_its_hooks():
    (found,) = problems(materialized="view", store_assignment_policy="legacy")
    assert found.startswith("store_assignment_policy: got 'legacy'")


def test_stores_the_failures_of_a_test_in_a_table():
    assert len(problems(materialized="test", store_failures=True, options=["a"])) == 1
