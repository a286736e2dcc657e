"""The properties that a model has gained since its table was created."""

import pytest

from dbt.adapters.deltawiden.config.tblproperties import (
    changed_properties,
    configured_properties,
)
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


@pytest.mark.parametrize(
    ("key", "writers"),
    [
        ("delta.feature.appendOnly", "23456"),
        ("delta.feature.checkConstraints", "3456"),
        ("delta.feature.identityColumns", "6"),
        ("delta.feature.deletionVectors", ""),
        ("appendOnly", ""),
        ("delta.ignoreProtocolDefaults", "1234567"),
    ],
)
def test_what_delta_does_not_list_is_not_set_again(key: str, writers: str):
    found = [
        v for v in "1234567" if not changed_properties({key: "x"}, {"delta.minWriterVersion": v})
    ]
    assert "".join(found) == writers


@pytest.mark.parametrize(
    ("persist_docs", "left"),
    [(None, True), ({}, True), ({"columns": True}, True), ({"relation": True}, False), ("x", True)],
)
def test_a_stored_description_replaces_the_comment(persist_docs: object, left: bool):
    config = {"persist_docs": persist_docs, "tblproperties": {"comment": "a", "team": "b"}}
    assert configured_properties(config) == {**({"comment": "a"} if left else {}), "team": "b"}
    assert configured_properties({"persist_docs": persist_docs}) == {}


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
