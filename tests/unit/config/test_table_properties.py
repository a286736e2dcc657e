"""The properties that a model has gained since its table was created."""

import pytest

from dbt.adapters.deltawiden.config.table_properties import changed_properties
from dbt.adapters.deltawiden.config.validation import configuration_problems

LISTED = {
    "team": "a",
    "delta.enableChangeDataFeed": "true",
    "delta.minReaderVersion": "3",
    "delta.feature.typeWidening": "supported",
}


@pytest.mark.parametrize(
    ("configured", "gained"),
    [
        ({}, {}),
        ({"team": "a"}, {}),
        ({"team": "b", "Team": "a"}, {"team": "b", "Team": "a"}),
        ({"delta.enableChangeDataFeed": True}, {}),
        ({"DELTA.ENABLECHANGEDATAFEED": "True"}, {}),
        ({"delta.enableChangeDataFeed": False}, {"delta.enableChangeDataFeed": "false"}),
        ({"delta.minReaderVersion": 2, "delta.feature.typeWidening": "supported"}, {}),
        ({"delta.minReaderVersion": "4"}, {"delta.minReaderVersion": "4"}),
        ({"rows": 7}, {"rows": "7"}),
        ({"delta.columnMapping.mode": "none"}, {}),
        ({"DELTA.appendonly": True}, {"delta.appendOnly": "true"}),
    ],
)
def test_gained_properties_are_missing_from_the_table_or_have_another_value(configured, gained):
    assert changed_properties(configured, LISTED) == gained


OFF = {"delta.enabletypewidening": False}


@pytest.mark.parametrize("kind", ["incremental", "snapshot"])
@pytest.mark.parametrize("off", [OFF, {"delta.enableTypeWidening": "FALSE"}])
def test_a_property_that_each_run_would_set_back_is_refused(kind: str, off: dict[str, object]):
    config = {"materialized": kind, "type_widening": True, "tblproperties": off}
    (problem,) = configuration_problems(config, lambda _: False)
    assert problem.startswith("tblproperties: delta.enableTypeWidening is false")


@pytest.mark.parametrize(
    "changed",
    [
        {"type_widening": None},
        {"type_widening": False},
        {"tblproperties": {"delta.enableTypeWidening": "true"}},
        {"materialized": "table"},
    ],
)
def test_one_of_them_alone_is_accepted(changed: dict[str, object]):
    config = {"materialized": "incremental", "type_widening": True, "tblproperties": OFF}
    assert configuration_problems({**config, **changed}, lambda _: False) == []
