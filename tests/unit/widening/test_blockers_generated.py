"""Generated and identity columns block changes, and Delta fills them."""

import pytest
from pyspark.sql import types as spark
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.widening.planner import plan_write_alone
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.schema_diff import compare
from tests.unit.schemas import (
    ENABLED,
    MAPPED,
    PLANNED_MODES,
    by_hand,
    make_plan,
    policy,
    reasons,
    schema,
    table_snapshot,
)

MADE = table_snapshot(
    {**ENABLED, **MAPPED},
    generation_expressions={"Tenfold": "amount * 10", "day": "cast(s.at as date)"},
    identity=frozenset({"Number"}),
)
MADE_TABLE = {
    "id": "int",
    "Tenfold": "int",
    "amount": "int",
    "s": {"at": "date", "x": "int"},
    "day": "date",
    "Number": "bigint",
}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"tenfold": "bigint"}, [(("Tenfold",), Reason.GENERATED, "amount * 10", "")]),
        (
            {"amount": "bigint"},
            [(("amount",), Reason.INPUT_OF_GENERATED, "amount * 10", "`Tenfold`")],
        ),
        (
            {"s": {"at": "timestamp_ntz", "x": "bigint"}},
            [(("s", "at"), Reason.INPUT_OF_GENERATED, "cast(s.at as date)", "`day`")],
        ),
        ({"id": "bigint"}, []),
        ({"tenfold": "int", "number": "int"}, []),
    ],
)
def test_a_generated_column_and_its_inputs_are_not_widened(source, expected):
    plan = make_plan(MADE_TABLE, source, snapshot=MADE)
    found = [
        (refusal.path, refusal.reason, refusal.detail, refusal.name) for refusal in plan.refusals
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("column", "from_type", "to_type", "reason"),
    [
        ("Number", "bigint", "decimal(20,0)", Reason.IDENTITY),
        ("Tenfold", "int", "double", Reason.GENERATED),
        ("amount", "int", "decimal(12,2)", Reason.INPUT_OF_GENERATED),
    ],
)
def test_generated_and_identity_columns_are_not_widened_by_hand(column, from_type, to_type, reason):
    assert reasons(by_hand(from_type, to_type, MADE, (column,))) == [((column,), reason)]


@pytest.mark.parametrize("field", ["Tenfold", "Number"])
def test_a_nested_field_with_the_name_of_a_generated_column_is_widened(field: str):
    snapshot = table_snapshot(
        generation_expressions={"Tenfold": "id * 10"}, identity=frozenset({"Number"})
    )
    assert not by_hand("int", "bigint", snapshot, ("s", field)).refusals
    assert by_hand("int", "bigint", snapshot, (field, "x")).refusals


def test_a_generated_column_that_another_is_generated_from_has_both_refusals():
    snapshot = table_snapshot(generation_expressions={"a": "x + 1", "b": "a + 1"})
    plan = by_hand("int", "bigint", snapshot, ("a",))
    assert [refusal.reason for refusal in plan.refusals] == [
        Reason.INPUT_OF_GENERATED,
        Reason.GENERATED,
    ]


@pytest.mark.parametrize("mode", PLANNED_MODES)
def test_computed_columns_that_the_source_lacks_are_not_written(mode):
    source = {"amount": "int", "id": "int", "s": {"at": "date", "x": "int"}}
    plan = make_plan(MADE_TABLE, source, policy(mode), MADE)
    assert (plan.statements, plan.refusals, plan.dropped) == ([], (), ())
    assert [column.name for column in plan.write.columns] == ["id", "amount", "s"]
    assert all(column.in_source for column in plan.write.columns)
    assert plan.write.computed
    assert not plan.write.can_merge_all


@pytest.mark.parametrize("mode", PLANNED_MODES)
def test_computed_columns_that_the_source_has_are_written(mode):
    plan = make_plan(MADE_TABLE, MADE_TABLE, policy(mode), MADE)
    assert [column.name for column in plan.write.columns] == list(MADE_TABLE)
    assert not plan.write.computed


def test_other_columns_beside_computed_ones_are_dropped_filled_or_refused():
    source = {"amount": "int", "s": {"at": "date", "x": "int"}}
    dropped = make_plan(MADE_TABLE, source, policy("sync_all_columns"), MADE)
    assert dropped.statements == ["alter table `s`.`t` drop columns (`id`)"]
    filled = make_plan(MADE_TABLE, source, policy("append_new_columns"), MADE)
    assert [(column.name, column.in_source) for column in filled.write.columns] == [
        ("id", False),
        ("amount", True),
        ("s", True),
    ]
    refused = make_plan(MADE_TABLE, source, policy("fail"), MADE)
    assert reasons(refused) == [(("id",), Reason.MISSING_AND_MODE_IS_FAIL)]


def test_a_computed_column_can_be_not_null_and_a_partition_column():
    table = StructType(
        [
            StructField("at", spark.DateType()),
            StructField("day", spark.DateType(), nullable=False),
        ]
    )
    snapshot = table_snapshot(
        generation_expressions={"day": "cast(at as date)"}, partition_columns=("day",)
    )
    for mode in PLANNED_MODES:
        assert not make_plan(table, {"at": "date"}, policy(mode), snapshot).refusals


def test_a_plan_without_changes_does_not_write_computed_columns():
    source, table = schema({"id": "int"}), schema({"id": "int", "Tenfold": "int", "gone": "int"})
    plan = plan_write_alone(
        compare(source, table), source, table, "`t`", frozenset({"tenfold"}), check=None
    )
    assert [column.name for column in plan.write.columns] == ["id", "gone"]
    assert plan.write.computed
