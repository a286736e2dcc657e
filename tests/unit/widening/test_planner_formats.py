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
        table_snapshot({}, format="parquet"),
    )
    (refusal,) = plan.refusals
    assert (refusal.reason, refusal.detail) == (Reason.NOT_DELTA, "parquet")


@pytest.mark.parametrize(
    ("table", "source", "type_sql"),
    [
        ("int", "bigint", "`v` type bigint"),
        ("float", "double", "`v` type double"),
        ("decimal(10,2)", "decimal(12,2)", "`v` type decimal(12,2)"),
        ({"x": ["int"]}, {"x": ["bigint"]}, "`v`.`x`.`element` type bigint"),
        (("string", "float"), ("string", "double"), "`v`.`value` type double"),
    ],
)
@pytest.mark.parametrize("type_widening", [None, True])
def test_an_iceberg_table_is_widened_without_a_property(table, source, type_sql, type_widening):
    snapshot = table_snapshot({}, format="iceberg")
    plan = make_plan({"v": table}, {"v": source}, policy(type_widening=type_widening), snapshot)
    assert plan.statements == [f"alter table `s`.`t` alter column {type_sql}"]


@pytest.mark.parametrize(
    ("table", "source", "reason"),
    [
        ("decimal(10,2)", "decimal(12,4)", Reason.NOT_IN_ICEBERG_TABLES),
        ("date", "timestamp_ntz", Reason.NOT_IN_ICEBERG_TABLES),
        ("int", "double", Reason.NOT_IN_ICEBERG_TABLES),
        ("int", "string", Reason.NOT_IN_ICEBERG_TABLES),
        (("int", "int"), ("bigint", "int"), Reason.NOT_IN_ICEBERG_TABLES),
        ("decimal(38,0)", "decimal(38,10)", Reason.TOO_MANY_DIGITS),
    ],
)
def test_what_iceberg_can_not_change_is_refused(table, source, reason):
    snapshot = table_snapshot({}, format="iceberg")
    plan = make_plan({"v": table}, {"v": source}, policy(type_widening=True), snapshot)
    assert [refusal.reason for refusal in plan.refusals] == [reason]


def test_a_field_named_key_is_not_the_key_of_a_map():
    table, source = {"key": "int"}, {"key": "bigint"}
    snapshot = table_snapshot({}, format="iceberg")
    assert not make_plan({"v": table}, {"v": source}, policy(), snapshot).refusals


def test_the_configuration_of_the_model_holds_for_iceberg_tables():
    snapshot = table_snapshot({}, format="iceberg")
    wanted = policy(type_widening=False)
    plan = make_plan({"v": "decimal(10,2)"}, {"v": "decimal(12,2)"}, wanted, snapshot)
    assert [refusal.reason for refusal in plan.refusals] == [Reason.TURNED_OFF]


def test_every_other_format_has_the_changes_of_iceberg_tables():
    wanted = policy(compatible_with=frozenset(Compatibility))
    snapshot = table_snapshot({}, format="iceberg")
    for before, after in (("int", "bigint"), ("float", "double"), ("decimal(9,2)", "decimal(9,3)")):
        plan = make_plan({"v": before}, {"v": after}, wanted, snapshot)
        assert bool(plan.refusals) == (after == "decimal(9,3)")


def test_iceberg_can_refuse_a_new_column_before_a_type_changes():
    before, after = {"a": "int"}, {"a": "bigint", "b": "void"}
    adds, widens = "alter table `s`.`t` add columns (`b` void)", "`a` type bigint"
    plan = make_plan(before, after, snapshot=table_snapshot({}, format="iceberg"))
    assert plan.statements == [adds, f"alter table `s`.`t` alter column {widens}"]
    assert make_plan(before, after).statements[-1] == adds


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
        ("decimal(10,2)", "decimal(12,2)", DUCKLAKE, ""),
        ("decimal(10,2)", "decimal(12,4)", ICEBERG, "iceberg_v2"),
        ("decimal(10,2)", "decimal(12,4)", DUCKLAKE, ""),
        ("decimal(10,2)", "decimal(12,4)", ICEBERG | DUCKLAKE, "iceberg_v2"),
        ("date", "timestamp_ntz", ICEBERG | DUCKLAKE, "ducklake, iceberg_v2"),
        ("date", "timestamp_ntz", ICEBERG, "iceberg_v2"),
        ("date", "timestamp_ntz", DUCKLAKE, "ducklake"),
        (("int", "int"), ("bigint", "int"), ICEBERG, "iceberg_v2"),
        (("smallint", "int"), ("bigint", "int"), ICEBERG | DUCKLAKE, "iceberg_v2"),
        ([({"k": "float"}, "int")], [({"k": "double"}, "int")], ICEBERG, "iceberg_v2"),
        (("decimal(9,2)", "int"), ("decimal(9,3)", "int"), ICEBERG, "iceberg_v2"),
        (("int", "int"), ("bigint", "int"), DUCKLAKE, ""),
        (("int", "int"), ("int", "bigint"), ICEBERG, ""),
        # Iceberg stores both as int.
        (("tinyint", "int"), ("int", "int"), ICEBERG, ""),
    ],
)
def test_a_change_that_another_format_lacks_is_refused(table, source, compatible_with, missing):
    plan = make_plan({"v": table}, {"v": source}, policy(compatible_with=compatible_with))
    assert [refusal.detail for refusal in plan.refusals] == ([missing] if missing else [])
    assert all(refusal.reason is Reason.INCOMPATIBLE for refusal in plan.refusals)
