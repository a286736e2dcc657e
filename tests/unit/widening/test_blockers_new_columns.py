"""What blocks a new column or nested field."""

import pytest
from pyspark.sql import types as spark

from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.sql.types import UnreadableType
from dbt.adapters.deltawiden.widening.refusals import Reason
from tests.unit.schemas import (
    AUTOMATIC_MODES,
    DELTA_3_3,
    DELTA_4_0,
    DELTA_4_4,
    ENABLED,
    details,
    make_plan,
    policy,
    reasons,
    table_snapshot,
)

INTERVAL = spark.DayTimeIntervalType(0, 0)
DELTA_4_3 = Engine(spark=(4, 1, 4), delta=(4, 3, 2))


@pytest.mark.parametrize("mode", AUTOMATIC_MODES)
@pytest.mark.parametrize(
    ("new", "detail"),
    [
        (INTERVAL, "interval day"),
        (spark.YearMonthIntervalType(0, 1), "interval year to month"),
        ([{"a": "int", "b": INTERVAL}], "interval day"),
        (spark.StringType("UTF8_LCASE"), "string collate UTF8_LCASE"),
        (UnreadableType("geometry(4326)"), "geometry(4326)"),
    ],
)
def test_a_new_column_of_a_type_that_delta_cannot_store_is_refused(mode, new, detail: str):
    plan = make_plan({}, {"v": new, "ok": "int"}, policy(mode))
    assert reasons(plan) == [(("v",), Reason.NOT_STORABLE)]
    assert plan.refusals[0].detail == detail


@pytest.mark.parametrize(
    ("table", "source", "engine", "refused"),
    [
        ({}, {"v": "void"}, DELTA_4_4, None),
        ({}, {"v": {"a": "void", "b": "int"}}, DELTA_4_4, None),
        ({"s": {"a": "int"}}, {"s": {"a": "int", "b": "void"}}, DELTA_4_4, None),
        ({}, {"v": "void"}, DELTA_4_3, ("v",)),
        ({}, {"v": "void"}, DELTA_4_0, ("v",)),
        ({}, {"v": "void"}, DELTA_3_3, ("v",)),
        ({}, {"v": ["void"]}, DELTA_4_4, ("v",)),
        ({}, {"v": {"a": [{"b": "void", "c": "int"}]}}, DELTA_4_4, ("v",)),
        ({}, {"v": ("string", "void")}, DELTA_4_4, ("v",)),
        (
            {"a": [{"x": "int"}]},
            {"a": [{"x": "int", "y": "void"}]},
            DELTA_4_4,
            ("a", "element", "y"),
        ),
        (
            {"m": ("int", {"x": "int"})},
            {"m": ("int", {"x": "int", "y": "void"})},
            DELTA_4_4,
            ("m", "value", "y"),
        ),
        # `key` and `value` can also be names of columns and fields.
        ({"s": {"a": "int"}}, {"s": {"a": "int", "value": "void"}}, DELTA_4_4, None),
        ({"key": {"a": "int"}}, {"key": {"a": "int", "b": "void"}}, DELTA_4_4, None),
        (
            {"s": {"value": {"a": "int"}}},
            {"s": {"value": {"a": "int", "b": "void"}}},
            DELTA_4_4,
            None,
        ),
        ({}, {"v": {"a": ["int"], "b": "void"}}, DELTA_4_4, None),
    ],
)
def test_a_void_column_is_added_only_if_it_can_get_a_type_later(table, source, engine, refused):
    plan = make_plan(table, source, snapshot=table_snapshot(engine=engine))
    assert reasons(plan) == ([(refused, Reason.VOID)] if refused else [])


@pytest.mark.parametrize("new", [{}, {"a": "void"}, {"a": {"b": "void"}, "c": "int"}, [{}]])
def test_a_new_struct_without_a_field_that_has_a_type_is_refused(new):
    assert (("v",), Reason.NO_TYPED_FIELD) in reasons(make_plan({}, {"v": new}))


@pytest.mark.parametrize(
    "name", ["a b", "a,b", "a;b", "{a", "a}", "(a", "a)", "a\nb", "a\tb", "a=b"]
)
def test_a_new_name_with_a_character_that_parquet_reserves_needs_column_mapping(name: str):
    for mapping in ({}, {"delta.columnMapping.mode": "none"}):
        plan = make_plan({}, {name: "int"}, snapshot=table_snapshot({**ENABLED, **mapping}))
        assert details(plan) == [(Reason.NAME_NEEDS_COLUMN_MAPPING, f"`{name}`")]
    for mode in ("name", "id"):
        snapshot = table_snapshot({**ENABLED, "delta.columnMapping.mode": mode})
        assert not make_plan({}, {name: "int"}, snapshot=snapshot).refusals


@pytest.mark.parametrize(
    ("table", "source", "refused"),
    [
        ({}, {"a.b`c-größe🙂": "int"}, None),
        ({}, {"v": [{"a b": "int"}]}, ("v",)),
        ({}, {"v": ({"x": "int"}, {"y": {"a b": "int"}})}, ("v",)),
        ({"s": {"x": "int"}}, {"s": {"x": "int", "a b": "int"}}, ("s", "a b")),
        ({"a b": "int"}, {"a b": "bigint"}, None),
        ({"a b": {"x": "int"}}, {"a b": {"x": "int", "y": "int"}}, None),
    ],
)
def test_only_new_names_are_checked_for_column_mapping(table, source, refused):
    expected = [(refused, Reason.NAME_NEEDS_COLUMN_MAPPING)] if refused else []
    assert reasons(make_plan(table, source)) == expected


V1, V2, V3 = "icebergCompatV1", "icebergCompatV2", "icebergCompatV3"


@pytest.mark.parametrize(
    ("feature", "new", "lacking"),
    [
        (V1, ("string", "int"), "map<string, int>"),
        (V1, {"a": ["int"]}, "array<int>"),
        (V1, {"a": "int", "b": "timestamp_ntz"}, None),
        (V2, ("string", ["int"]), None),
        (V2, "variant", "variant"),
        (V2, [{"v": "variant"}], "variant"),
        (V3, ("string", "variant"), None),
        (V1, "void", "void"),
        (V2, "void", "void"),
        (V3, "void", "void"),
        ("typeWidening", ("string", "void"), None),
    ],
)
def test_a_new_column_of_a_type_that_iceberg_lacks_is_refused(feature, new, lacking: str | None):
    plan = make_plan({}, {"v": new}, snapshot=table_snapshot(features=frozenset({feature})))
    found = [detail for detail in details(plan) if detail[0] is Reason.NOT_IN_ICEBERG]
    assert found == ([(Reason.NOT_IN_ICEBERG, f"{feature}: {lacking}")] if lacking else [])


def test_all_blockers_of_a_new_column_are_refused_together():
    snapshot = table_snapshot(features=frozenset({V1, V2}), engine=DELTA_4_0)
    plan = make_plan({}, {"my col": ["void"], "w": INTERVAL}, snapshot=snapshot)
    assert reasons(plan) == [
        (("my col",), Reason.VOID),
        (("my col",), Reason.NAME_NEEDS_COLUMN_MAPPING),
        (("my col",), Reason.NOT_IN_ICEBERG),
        (("my col",), Reason.NOT_IN_ICEBERG),
        (("w",), Reason.NOT_STORABLE),
    ]


def test_with_fail_the_only_refusal_of_a_new_column_is_the_mode():
    plan = make_plan({}, {"my col": INTERVAL}, policy("fail"))
    assert reasons(plan) == [(("my col",), Reason.NEW_AND_MODE_IS_FAIL)]


def test_a_new_column_of_another_format_is_left_to_that_format():
    plan = make_plan(
        {}, {"my col": INTERVAL, "n": ["void"]}, snapshot=table_snapshot({}, format="iceberg")
    )
    assert not plan.refusals
