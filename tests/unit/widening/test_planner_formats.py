"""What the version of Delta, the format of the table and other formats allow."""

import pytest

from dbt.adapters.deltawiden.delta.protocol import Compatibility
from dbt.adapters.deltawiden.widening.refusals import Reason
from tests.unit.schemas import DELTA_3_3, make_plan, policy, table_snapshot


@pytest.mark.parametrize(
    ("table", "source", "needed"),
    [
        ("tinyint", "int", ""),
        ("int", "bigint", "4.0"),
        ("float", "double", "4.0"),
        ("void", "int", "4.4"),
    ],
)
def test_delta_3_3_makes_only_the_changes_that_it_supports(table: str, source: str, needed: str):
    plan = make_plan({"v": table}, {"v": source}, snapshot=table_snapshot(engine=DELTA_3_3))
    assert [refusal.detail for refusal in plan.refusals] == ([needed] if needed else [])
    assert all(refusal.reason is Reason.ENGINE_TOO_OLD for refusal in plan.refusals)


def test_a_table_of_another_format_is_not_widened():
    plan = make_plan(
        {"v": "int"},
        {"v": "bigint"},
        policy(type_widening=True),
        table_snapshot({}, format="iceberg"),
    )
    (refusal,) = plan.refusals
    assert (refusal.reason, refusal.detail) == (Reason.NOT_DELTA, "iceberg")


def test_a_table_of_another_format_gets_no_property_of_delta():
    snapshot = table_snapshot({}, format="iceberg")
    plan = make_plan({"a": "int"}, {"a": "int", "t": "timestamp_ntz"}, snapshot=snapshot)
    assert plan.statements == ["alter table `s`.`t` add columns (`t` timestamp_ntz)"]


ICEBERG = frozenset({Compatibility.ICEBERG_V2})
DUCKLAKE = frozenset({Compatibility.DUCKLAKE})


@pytest.mark.parametrize(
    ("table", "source", "compatible_with", "missing"),
    [
        ("int", "bigint", ICEBERG | DUCKLAKE, ""),
        ("float", "double", ICEBERG | DUCKLAKE, ""),
        ("decimal(10,2)", "decimal(12,2)", ICEBERG, ""),
        ("decimal(10,2)", "decimal(12,2)", DUCKLAKE, "ducklake"),
        ("decimal(10,2)", "decimal(12,4)", ICEBERG, "iceberg_v2"),
        ("decimal(10,2)", "decimal(12,4)", ICEBERG | DUCKLAKE, "ducklake, iceberg_v2"),
        ("date", "timestamp_ntz", ICEBERG, "iceberg_v2"),
        ("date", "timestamp_ntz", DUCKLAKE, "ducklake"),
    ],
)
def test_a_change_that_another_format_lacks_is_refused(table, source, compatible_with, missing):
    plan = make_plan({"v": table}, {"v": source}, policy(compatible_with=compatible_with))
    assert [refusal.detail for refusal in plan.refusals] == ([missing] if missing else [])
    assert all(refusal.reason is Reason.INCOMPATIBLE for refusal in plan.refusals)
