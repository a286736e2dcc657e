"""The automatic changes of a plan, and the changes that only a person can request."""

import itertools

import pytest
from hypothesis import given
from pyspark.sql import types as spark
from pyspark.sql.types import StringType

from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.rules import find_rule
from dbt.adapters.deltawiden.writing.store_assignment import store_assignment
from tests.unit.schemas import (
    AUTOMATIC_MODES,
    DELTA_3_3,
    PLANNED_MODES,
    changes,
    data_type,
    make_plan,
    policy,
    reasons,
    table_snapshot,
)
from tests.unit.strategies import FLOATS, INTEGERS, policies, table_snapshots, tables_with_sources


@given(tables_with_sources, policies, table_snapshots)
def test_no_automatic_plan_turns_an_integer_into_decimal_or_double(sides, model, snapshot):
    for change in make_plan(*sides, model, snapshot).changes:
        if change.from_type in INTEGERS:
            assert change.to_type in INTEGERS


@pytest.mark.parametrize("mode", PLANNED_MODES)
@pytest.mark.parametrize("integer", INTEGERS, ids=type_text)
def test_an_integer_is_never_widened_to_decimal_or_double_by_a_plan(integer, mode):
    decimals = [spark.DecimalType(p, s) for p in range(1, 39) for s in (0, 1, p // 2, p) if s <= p]
    for source, widening in itertools.product([*FLOATS, *decimals], [None, True, False]):
        model = policy(mode, type_widening=widening)
        for snapshot in (table_snapshot(), table_snapshot({}), table_snapshot(engine=DELTA_3_3)):
            plan = make_plan({"v": integer}, {"v": source}, model, snapshot)
            assert not plan.changes
            assert bool(plan.refusals) == (not store_assignment(source, integer).fits)


@given(tables_with_sources, policies, table_snapshots)
def test_every_planned_change_keeps_every_value_and_is_supported(sides, model, snapshot):
    for change in make_plan(*sides, model, snapshot).changes:
        rule = find_rule(change.from_type, change.to_type)
        assert rule is not None
        assert snapshot.is_iceberg or snapshot.engine.delta >= rule.since
        assert store_assignment(change.from_type, change.to_type).fits


@pytest.mark.parametrize(
    ("table", "source", "becomes"),
    [
        ("tinyint", "smallint", "smallint"),
        ("int", "bigint", "bigint"),
        ("float", "double", "double"),
        ("float", "int", "double"),
        ("decimal(10,2)", "decimal(10,4)", "decimal(12,4)"),
        ("decimal(10,2)", "decimal(12,2)", "decimal(12,2)"),
        ("decimal(5,2)", "int", "decimal(12,2)"),
        ("decimal(5,2)", "bigint", "decimal(21,2)"),
        ("decimal(3,0)", "smallint", "decimal(5,0)"),
        ("decimal(3,0)", "int", "decimal(10,0)"),
        ("decimal(18,0)", "bigint", "decimal(19,0)"),
        ("date", "timestamp_ntz", "timestamp_ntz"),
    ],
)
@pytest.mark.parametrize("mode", AUTOMATIC_MODES)
def test_a_widening_goes_to_the_smallest_type_for_both(table, source, becomes, mode):
    plan = make_plan({"v": table}, {"v": source}, policy(mode))
    assert reasons(plan) == []
    assert changes(plan) == [(("v",), becomes)]


@pytest.mark.parametrize("mode", AUTOMATIC_MODES)
@pytest.mark.parametrize(
    ("table", "source", "by_hand"),
    [
        ("int", "double", "double"),
        ("int", "float", "double"),
        ("tinyint", "float", "double"),
        ("int", "decimal(12,2)", "decimal(12,2)"),
        ("int", "decimal(5,2)", "decimal(12,2)"),
        ("bigint", "decimal(10,2)", "decimal(22,2)"),
        ("int", "decimal(18,0)", "decimal(18,0)"),
        ("bigint", "decimal(19,0)", "decimal(20,0)"),
        ("bigint", "decimal(21,2)", "decimal(22,2)"),
        ("tinyint", "decimal(3,0)", "decimal(10,0)"),
        ("smallint", "decimal(7,2)", "decimal(12,2)"),
        ("smallint", "float", "double"),
        ("smallint", "double", "double"),
    ],
)
def test_an_integer_becomes_decimal_or_double_only_by_hand(mode, table, source, by_hand):
    plan = make_plan({"v": table}, {"v": source}, policy(mode, type_widening=True))
    (refusal,) = plan.refusals
    assert refusal.reason is Reason.MANUAL
    assert find_rule(data_type(table), refusal.to_type)
    assert type_text(refusal.to_type) == by_hand


@pytest.mark.parametrize("source", ["double", "decimal(12,2)"])
def test_with_fail_too_an_integer_becomes_decimal_or_double_only_by_hand(source: str):
    # Another mode would not widen it either.
    plan = make_plan({"v": "int"}, {"v": source}, policy("fail"))
    assert reasons(plan) == [(("v",), Reason.MANUAL)]


@pytest.mark.parametrize(
    ("table", "source"),
    [
        ("bigint", "int"),
        ("decimal(12,4)", "decimal(10,2)"),
        ("double", "int"),
        ("string", "int"),
        ("int", "void"),
        ({"a": "int", "b": "int"}, {"b": "int", "a": "int"}),
        (["bigint"], ["void"]),
    ],
)
@pytest.mark.parametrize("mode", PLANNED_MODES)
def test_a_source_that_the_table_can_hold_changes_nothing(table, source, mode):
    plan = make_plan({"v": table}, {"v": source}, policy(mode), table_snapshot({}))
    assert (plan.statements, plan.refusals) == ([], ())


def test_a_collation_is_never_changed():
    plan = make_plan({"v": StringType("UTF8_LCASE")}, {"v": "string"})
    assert (plan.statements, plan.refusals) == ([], ())
