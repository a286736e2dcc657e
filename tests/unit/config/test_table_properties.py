"""The properties that a model has gained since its table was created."""

import pytest

from dbt.adapters.deltawiden.config.table_properties import changed_properties

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
    ],
)
def test_gained_properties_are_missing_from_the_table_or_have_another_value(configured, gained):
    assert changed_properties(configured, LISTED) == gained
