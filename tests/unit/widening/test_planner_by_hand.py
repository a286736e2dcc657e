"""A plan for the type changes that a person requests."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.sql.types import DateType, TimestampNTZType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.planner import plan_by_hand
from dbt.adapters.deltawiden.widening.refusals import Reason, Refusal
from dbt.adapters.deltawiden.writing.store_assignment import store_assignment
from tests.unit.schemas import DELTA_3_3, by_hand, data_type, schema, table_snapshot
from tests.unit.strategies import atoms, table_snapshots


@pytest.mark.parametrize(
    ("from_type", "to_type"),
    [
        ("int", "double"),
        ("int", "decimal(12,2)"),
        ("bigint", "decimal(20,0)"),
        ("int", "bigint"),
        ("decimal(10,2)", "decimal(12,4)"),
        ("varchar(5)", "varchar(10)"),
        ("date", "timestamp_ntz"),
    ],
)
def test_every_change_that_delta_supports_can_be_made_by_hand(from_type: str, to_type: str):
    snapshot = table_snapshot(features=frozenset({"timestampNtz"}))
    assert by_hand(from_type, to_type, snapshot).statements == [
        f"alter table `s`.`t` alter column `v` type {to_type}"
    ]


@pytest.mark.parametrize(
    ("from_type", "to_type", "snapshot", "reason"),
    [
        ("bigint", "double", table_snapshot(), Reason.IMPOSSIBLE),
        ("bigint", "int", table_snapshot(), Reason.IMPOSSIBLE),
        ("bigint", "decimal(19,0)", table_snapshot(), Reason.IMPOSSIBLE),
        ("int", "decimal(10,2)", table_snapshot(), Reason.IMPOSSIBLE),
        ("varchar(10)", "varchar(5)", table_snapshot(), Reason.IMPOSSIBLE),
        ("int", "string", table_snapshot(), Reason.IMPOSSIBLE),
        ("int", "double", table_snapshot(engine=DELTA_3_3), Reason.ENGINE_TOO_OLD),
        ("int", "bigint", table_snapshot({}, format="hudi"), Reason.NOT_DELTA),
        (
            "int",
            "double",
            table_snapshot({"delta.enableIcebergCompatV2": "true"}),
            Reason.INCOMPATIBLE,
        ),
    ],
)
def test_a_change_that_delta_does_not_support_is_refused_by_hand_too(
    from_type, to_type, snapshot, reason
):
    plan = by_hand(from_type, to_type, snapshot)
    assert plan.refusals == (
        Refusal(
            reason,
            ("v",),
            data_type(from_type),
            data_type(to_type),
            plan.refusals[0].detail,
        ),
    )
    assert plan.statements == []


def test_a_change_by_hand_enables_type_widening():
    assert by_hand("int", "double", table_snapshot({})).statements == [
        "alter table `s`.`t` set tblproperties ('delta.enableTypeWidening' = 'true')",
        "alter table `s`.`t` alter column `v` type double",
    ]


def test_a_longer_varchar_by_hand_needs_no_property():
    assert by_hand("varchar(5)", "varchar(10)", table_snapshot({})).statements == [
        "alter table `s`.`t` alter column `v` type varchar(10)"
    ]


def test_a_change_by_hand_to_the_current_type_is_left_out():
    plan = by_hand("int", "int", table_snapshot({}))
    assert (plan.statements, plan.refusals, plan.changes) == ([], (), ())


@given(st.lists(st.tuples(atoms, atoms), max_size=4), table_snapshots)
@example([(DateType(), TimestampNTZType())], table_snapshot())
def test_a_change_by_hand_is_made_or_refused_and_never_lossy(pairs, snapshot):
    requested = [TypeChange((f"c{i}",), *pair) for i, pair in enumerate(pairs)]
    snapshot.schema = schema({change.path[0]: change.from_type for change in requested})
    plan = plan_by_hand(requested, snapshot)
    decided = {decision.path for decision in (*plan.changes, *plan.refusals)}
    assert decided == {change.path for change in requested if change.from_type != change.to_type}
    for change in plan.changes:
        assert store_assignment(change.from_type, change.to_type).fits
