"""CHECK constraints block the changes of the columns that they use."""

import pytest
from hypothesis import given

from dbt.adapters.deltawiden.sql.identifiers import path_sql
from dbt.adapters.deltawiden.widening.refusals import Reason
from tests.unit.schemas import (
    ENABLED,
    by_hand,
    changes,
    checked,
    make_plan,
    reasons,
    table_snapshot,
)
from tests.unit.strategies import names


@pytest.mark.parametrize(
    ("expression", "table", "source", "refused"),
    [
        ("v > 0", {"v": "int"}, {"v": "bigint"}, [("v",)]),
        ("V > 0", {"v": "int"}, {"v": "bigint"}, [("v",)]),
        ("v > 0", {"V": "int"}, {"v": "bigint"}, [("V",)]),
        ("`my col` > 0", {"my col": "int"}, {"my col": "bigint"}, [("my col",)]),
        ("other > 0", {"v": "int"}, {"v": "bigint"}, []),
        ("s . x > 0", {"s": {"x": "int"}}, {"s": {"x": "bigint"}}, [("s", "x")]),
        ("s.y > 0", {"s": {"x": "int"}}, {"s": {"x": "bigint"}}, []),
        ("x > 0", {"s": {"x": "int"}}, {"s": {"x": "bigint"}}, []),
        ("s is not null", {"s": {"x": "int"}}, {"s": {"x": "bigint"}}, [("s", "x")]),
        ("size ( a ) > 0", {"a": ["int"]}, {"a": ["bigint"]}, [("a", "element")]),
        (
            "m['k'] > 0",
            {"m": ("int", "int"), "v": "int"},
            {"m": ("bigint", "bigint"), "v": "bigint"},
            [("m", "key"), ("m", "value")],
        ),
        ("a b c v", {"v": "int"}, {"v": "bigint"}, [("v",)]),
    ],
)
def test_a_column_that_a_check_constraint_uses_is_not_widened(expression, table, source, refused):
    plan = make_plan(table, source, snapshot=checked(expression))
    assert reasons(plan) == [(path, Reason.CONSTRAINT) for path in refused]
    assert {refusal.detail for refusal in plan.refusals} <= {expression}
    assert {refusal.name for refusal in plan.refusals} <= {"`c0`"}


def test_a_column_that_a_check_constraint_uses_is_not_widened_by_hand():
    snapshot = checked("s.x > 0")
    assert reasons(by_hand("int", "double", snapshot, ("s", "x"))) == [
        (("s", "x"), Reason.CONSTRAINT)
    ]
    assert not by_hand("int", "double", snapshot, ("s", "y")).refusals


def test_each_check_constraint_is_a_refusal_that_names_it():
    snapshot = table_snapshot(
        {**ENABLED, "delta.constraints.my check": "v > 0", "delta.constraints.b": "v < w"}
    )
    plan = make_plan({"v": "int"}, {"v": "bigint"}, snapshot=snapshot)
    assert [(refusal.name, refusal.detail) for refusal in plan.refusals] == [
        ("`my check`", "v > 0"),
        ("`b`", "v < w"),
    ]


@pytest.mark.parametrize(
    ("from_type", "to_type"),
    [("void", "int"), ("date", "timestamp_ntz")],
)
def test_a_check_constraint_blocks_every_change_of_a_type(from_type, to_type):
    plan = by_hand(from_type, to_type, checked("v is not null"))
    assert reasons(plan) == [(("v",), Reason.CONSTRAINT)]


@pytest.mark.parametrize("to_type", ["varchar(10)", "string"])
def test_a_check_constraint_does_not_block_a_longer_text(to_type):
    assert reasons(by_hand("varchar(5)", to_type, checked("length(v) > 0"))) == []


@pytest.mark.parametrize(
    ("expression", "is_used"),
    [
        ("size(items.x) > 0", True),
        ("items[0].y > 0", True),
        ("size(items.y) > 0", False),
        ("scores.alice > 0", False),
    ],
)
def test_a_check_constraint_can_name_a_field_of_an_array_without_its_element(expression, is_used):
    before = {"items": [{"x": "int", "y": "int"}], "scores": ("string", "int")}
    after = {"items": [{"x": "bigint", "y": "int"}], "scores": ("string", "int")}
    plan = make_plan(before, after, snapshot=checked(expression))
    expected = [(("items", "element", "x"), Reason.CONSTRAINT)]
    assert reasons(plan) == (expected if is_used else [])


def test_a_check_constraint_on_one_value_of_a_map_is_on_all_of_them():
    before, after = {"scores": ("string", "int")}, {"scores": ("string", "bigint")}
    plan = make_plan(before, after, snapshot=checked("scores.alice > 0"))
    assert reasons(plan) == [(("scores", "value"), Reason.CONSTRAINT)]


def test_a_check_constraint_on_an_unchanged_column_blocks_nothing():
    plan = make_plan(
        {"v": "bigint", "w": "int"}, {"v": "int", "w": "bigint"}, snapshot=checked("v > 0")
    )
    assert (changes(plan), reasons(plan)) == ([(("w",), "bigint")], [])


@given(names)
def test_a_check_constraint_on_a_column_with_any_name_is_found(name: str):
    plan = by_hand("int", "bigint", checked(f"{path_sql((name,))} > 0"), (name,))
    assert reasons(plan) == [((name,), Reason.CONSTRAINT)]
