"""Columns that only the table or only the source has, in each mode."""

import pytest
from pyspark.sql import types as spark
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.config.policy import OnSchemaChange
from dbt.adapters.deltawiden.delta.protocol import Compatibility
from dbt.adapters.deltawiden.widening.refusals import Reason
from tests.unit.schemas import (
    AUTOMATIC_MODES,
    ENABLED,
    MAPPED,
    data_type,
    make_plan,
    policy,
    reasons,
    table_snapshot,
)


@pytest.mark.parametrize("mode", AUTOMATIC_MODES)
def test_new_columns_and_fields_are_added(mode: OnSchemaChange):
    plan = make_plan(
        {"s": {"a": "int"}}, {"s": {"a": "int", "b": "int"}, "c": "date"}, policy(mode)
    )
    assert plan.statements == ["alter table `s`.`t` add columns (`s`.`b` int, `c` date)"]


def test_append_keeps_a_missing_column_and_writes_null():
    plan = make_plan({"id": "int", "s": {"a": "int", "b": "int"}, "w": "date"}, {"s": {"a": "int"}})
    assert (plan.statements, plan.refusals) == ([], ())
    assert [column.select_sql for column in plan.write.columns] == [
        "cast(null as int) as `id`",
        "if(`s` is null, null, named_struct('a', `s`.`a`, 'b', cast(null as int))) as `s`",
        "cast(null as date) as `w`",
    ]


def test_append_refuses_to_write_null_into_a_column_declared_not_null():
    table = StructType([StructField("id", spark.IntegerType(), nullable=False)])
    assert reasons(make_plan(table, {})) == [(("id",), Reason.MISSING_AND_NOT_NULL)]


@pytest.mark.parametrize(
    ("mapping", "dropped"),
    [("name", True), ("ID", True), ("none", False), (None, False)],
)
def test_sync_drops_a_column_only_under_column_mapping(mapping: str | None, dropped: bool):
    properties = {**ENABLED, **({"delta.columnMapping.mode": mapping} if mapping else {})}
    plan = make_plan(
        {"a": "int", "b": "int"},
        {"a": "int"},
        policy("sync_all_columns"),
        table_snapshot(properties),
    )
    if dropped:
        assert plan.statements == ["alter table `s`.`t` drop columns (`b`)"]
        # It is dropped after the write.
        assert plan.before == ()
        assert [(column.name, column.in_source) for column in plan.write.columns] == [
            ("a", True),
            ("b", False),
        ]
    else:
        assert reasons(plan) == [(("b",), Reason.DROP_NEEDS_COLUMN_MAPPING)]


@pytest.mark.parametrize("properties", [{}, MAPPED])
@pytest.mark.parametrize(("partition", "column"), [("day", "day"), ("Day", "day"), ("day", "Day")])
def test_sync_never_drops_a_column_that_the_table_is_partitioned_by(properties, partition, column):
    snapshot = table_snapshot(properties, partition_columns=(partition,))
    plan = make_plan(
        {"a": "int", column: "date"}, {"a": "int"}, policy("sync_all_columns"), snapshot
    )
    assert reasons(plan) == [((column,), Reason.MISSING_AND_PARTITIONED_BY)]


def test_append_keeps_a_column_that_the_table_is_partitioned_by():
    snapshot = table_snapshot(partition_columns=("day",))
    assert not make_plan({"a": "int", "day": "date"}, {"a": "int"}, snapshot=snapshot).refusals


def test_fail_refuses_every_difference_and_names_the_wider_types():
    plan = make_plan(
        {"v": "int", "d": "decimal(10,2)", "gone": "int", "s": {"x": "int"}},
        {"v": "bigint", "d": "decimal(10,4)", "new": "int", "s": {"x": "int", "y": "int"}},
        policy("fail", type_widening=True),
    )
    assert [(refusal.path, refusal.reason, refusal.to_type) for refusal in plan.refusals] == [
        (("v",), Reason.MODE_IS_FAIL, data_type("bigint")),
        (("d",), Reason.MODE_IS_FAIL, data_type("decimal(12,4)")),
        (("s", "y"), Reason.NEW_AND_MODE_IS_FAIL, data_type("int")),
        (("new",), Reason.NEW_AND_MODE_IS_FAIL, data_type("int")),
        (("gone",), Reason.MISSING_AND_MODE_IS_FAIL, None),
    ]


def test_all_refusals_are_in_the_plan_together():
    plan = make_plan(
        {"a": "int", "b": "bigint", "c": "date", "ok": "int", "gone": "int"},
        {"a": "double", "b": "double", "c": "timestamp_ntz", "ok": "bigint", "new": "int"},
        policy("sync_all_columns", compatible_with=frozenset({Compatibility.ICEBERG_V2})),
    )
    assert reasons(plan) == [
        (("a",), Reason.MANUAL),
        (("b",), Reason.IMPOSSIBLE),
        (("c",), Reason.INCOMPATIBLE),
        (("gone",), Reason.DROP_NEEDS_COLUMN_MAPPING),
    ]
    assert plan.statements == []
