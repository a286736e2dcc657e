"""A table that is kept compatible with Iceberg blocks the changes that Iceberg lacks."""

from typing import Any

import pytest

from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.widening.refusals import Reason
from tests.unit.schemas import (
    DELTA_3_3,
    DELTA_4_0,
    ENABLED,
    MAPPED,
    by_hand,
    changes,
    details,
    make_plan,
    reasons,
    table_snapshot,
)

# IcebergCompat and UniForm


@pytest.mark.parametrize(
    ("properties", "features"),
    [
        ({"delta.enableIcebergCompatV1": "true"}, ()),
        ({"delta.enableIcebergCompatV2": "true"}, ()),
        ({"delta.enableIcebergCompatV3": "true"}, ()),
        ({}, ("icebergCompatV1",)),
        ({}, ("icebergCompatV2",)),
        ({"delta.enableIcebergCompatV2": "false"}, ("icebergCompatV2",)),
        ({}, ("icebergCompatV3",)),
        ({"delta.universalFormat.enabledFormats": "iceberg"}, ()),
        ({"delta.universalFormat.enabledFormats": "hudi, Iceberg"}, ()),
        ({"delta.columnMapping.mode": "id", "delta.enableIcebergWriterCompatV1": "true"}, ()),
        ({"delta.columnMapping.mode": "id"}, ("icebergWriterCompatV1",)),
        ({"delta.columnMapping.mode": "id"}, ("icebergWriterCompatV3",)),
    ],
)
def test_a_table_compatible_with_iceberg_takes_only_the_changes_that_iceberg_has(
    properties, features
):
    snapshot = table_snapshot({**ENABLED, **properties}, features=frozenset(features))
    plan = make_plan(
        {"t": "date", "grown": "decimal(10,2)", "kept": "decimal(10,2)", "i": "int", "n": "void"},
        {
            "t": "timestamp_ntz",
            "grown": "decimal(12,4)",
            "kept": "decimal(12,2)",
            "i": "bigint",
            "n": "int",
        },
        snapshot=snapshot,
    )
    assert reasons(plan) == [(("t",), Reason.INCOMPATIBLE), (("grown",), Reason.INCOMPATIBLE)]
    assert {refusal.detail for refusal in plan.refusals} == {"iceberg_v2"}
    assert [path for path, _ in changes(plan)] == [("kept",), ("i",), ("n",)]
    key = make_plan({"m": ("int", "int")}, {"m": ("bigint", "int")}, snapshot=snapshot)
    assert (("m", "key"), Reason.INCOMPATIBLE) in reasons(key)


@pytest.mark.parametrize(
    "properties",
    [
        {"delta.enableIcebergCompatV1": "false"},
        {"delta.enableIcebergCompatV2": "false"},
        {"delta.enableIcebergCompatV3": "false"},
        {"delta.universalFormat.enabledFormats": "hudi"},
        {"delta.universalFormat.enabledFormats": ""},
        {"delta.enableIcebergWriterCompatV1": "false"},
    ],
)
def test_a_table_that_is_not_compatible_with_iceberg_takes_every_change(properties):
    plan = make_plan(
        {"t": "date"}, {"t": "timestamp_ntz"}, snapshot=table_snapshot({**ENABLED, **properties})
    )
    assert not plan.refusals


# IcebergWriterCompat


def writer(
    mode: str = "id", features: tuple[str, ...] = (), compat: str = "V1", **others: Any
) -> TableSnapshot:
    properties = {
        "delta.columnMapping.mode": mode,
        f"delta.enableIcebergWriterCompat{compat}": "true",
    }
    return table_snapshot({**ENABLED, **properties}, features=frozenset(features), **others)


ALLOWED = (
    *("appendOnly", "columnMapping", "icebergWriterCompatV1", "icebergCompatV2", "domainMetadata"),
    *("vacuumProtocolCheck", "v2Checkpoint", "inCommitTimestamp", "clustering", "timestampNtz"),
    *("typeWidening", "invariants", "changeDataFeed", "checkConstraints", "identityColumns"),
    "generatedColumns",
)
OF_V3 = ("icebergWriterCompatV3", "icebergCompatV3", "deletionVectors", "variantType")
TRACKING = ("rowTracking", "domainMetadata")
NO_PREVIEW = "it does not allow typeWidening-preview"


@pytest.mark.parametrize(
    ("from_type", "to_type", "snapshot", "expected"),
    [
        ("int", "bigint", writer(), []),
        ("int", "bigint", writer(features=ALLOWED), []),
        ("int", "bigint", writer("ID"), []),
        ("int", "bigint", writer(features=TRACKING), ["it does not allow rowTracking"]),
        ("int", "bigint", writer(compat="V3", features=OF_V3 + TRACKING), []),
        ("int", "bigint", writer("name", compat="V3"), ["column mapping is name, not id"]),
        ("int", "bigint", writer(compat="V3", features=("other",)), ["it does not allow other"]),
        ("tinyint", "smallint", writer(), ["it does not allow the type smallint"]),
        ("void", "tinyint", writer(), ["it does not allow the type tinyint"]),
        ("int", "bigint", writer("name"), ["column mapping is name, not id"]),
        ("int", "bigint", writer("none"), ["column mapping is none, not id"]),
        (
            "int",
            "bigint",
            writer(features=("deletionVectors", "typeWidening")),
            ["it does not allow deletionVectors"],
        ),
        (
            "int",
            "bigint",
            writer(features=("variantType", "deletionVectors")),
            ["it does not allow deletionVectors, variantType"],
        ),
        ("tinyint", "int", writer(engine=DELTA_3_3), [NO_PREVIEW]),
        ("tinyint", "int", writer(features=("typeWidening",), engine=DELTA_3_3), []),
        ("tinyint", "int", writer(engine=DELTA_4_0), []),
        ("varchar(5)", "string", writer(engine=DELTA_3_3), []),
        ("tinyint", "int", writer(features=("typeWidening-preview",)), [NO_PREVIEW]),
        (
            "tinyint",
            "smallint",
            writer("name", ("deletionVectors",)),
            [
                "column mapping is name, not id",
                "it does not allow the type smallint",
                "it does not allow deletionVectors",
            ],
        ),
    ],
)
def test_a_change_that_iceberg_writer_compat_v1_forbids_is_refused(
    from_type, to_type, snapshot, expected
):
    plan = by_hand(from_type, to_type, snapshot)
    assert details(plan) == [(Reason.WRITER_COMPATIBILITY, detail) for detail in expected]


def test_iceberg_writer_compat_v1_as_a_table_feature_forbids_the_same_changes():
    snapshot = table_snapshot({**ENABLED, **MAPPED}, features=frozenset({"icebergWriterCompatV1"}))
    assert reasons(by_hand("int", "bigint", snapshot)) == [(("v",), Reason.WRITER_COMPATIBILITY)]


@pytest.mark.parametrize("compat", ["V1", "V3"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (({"x": "int"}, "int"), ({"x": "bigint"}, "int")),
        ([({"s": {"x": "int"}}, "int")], [({"s": {"x": "bigint"}}, "int")]),
        (("int", "int"), ("bigint", "int")),
    ],
)
def test_iceberg_writer_compat_forbids_every_change_of_a_map_key(compat, before, after):
    plan = make_plan({"m": before}, {"m": after}, snapshot=writer(compat=compat))
    assert details(plan) == [
        (Reason.INCOMPATIBLE, "iceberg_v2"),
        (Reason.WRITER_COMPATIBILITY, "the key of a map never changes"),
    ]
    assert not make_plan({"m": before}, {"m": after}).refusals


def test_iceberg_writer_compat_allows_a_change_of_a_map_value():
    plan = make_plan(
        {"m": ("int", {"x": "int"})}, {"m": ("int", {"x": "bigint"})}, snapshot=writer()
    )
    assert not plan.refusals


def test_under_iceberg_writer_compat_v1_no_column_or_field_is_added():
    plan = make_plan(
        {"s": {"x": "int"}}, {"s": {"x": "int", "y": "int"}, "b": "int"}, snapshot=writer()
    )
    assert reasons(plan) == [
        (("s", "y"), Reason.WRITER_COMPATIBILITY_AND_NEW),
        (("b",), Reason.WRITER_COMPATIBILITY_AND_NEW),
    ]
    assert [refusal.name for refusal in plan.refusals] == ["V1", "V1"]


def test_all_reasons_of_iceberg_writer_compat_v1_against_a_new_column_are_refusals():
    # A new column widens nothing, so Delta 3.3 turns no preview on for it.
    snapshot = writer("name", ("deletionVectors",), engine=DELTA_3_3)
    plan = make_plan({}, {"b": [{"x": "smallint"}]}, snapshot=snapshot)
    assert details(plan) == [
        (Reason.WRITER_COMPATIBILITY_AND_NEW, ""),
        (Reason.WRITER_COMPATIBILITY, "column mapping is name, not id"),
        (Reason.WRITER_COMPATIBILITY, "it does not allow the type smallint"),
        (Reason.WRITER_COMPATIBILITY, "it does not allow deletionVectors"),
    ]
