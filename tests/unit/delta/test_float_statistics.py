"""The statistics of data files after a float column becomes double."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.delta.float_statistics import (
    INDEXED_COLUMNS,
    SAVED_SETTINGS_PROPERTY,
    STATISTICS_COLUMNS,
    corrected,
    guarding_settings,
    leaves_with_statistics,
    physical_path,
    restored_settings,
    schema_with_doubles,
    statistics_names,
    widened_floats,
)
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_by_hand
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.steps import AlterTypes, WidenFloats
from tests.unit.schemas import data_type, make_plan, reasons, schema, table_snapshot

FLOAT, DOUBLE = data_type("float"), data_type("double")


def bounds(**columns: str) -> str:
    inside = ",".join(f'"{name}":{text}' for name, text in columns.items())
    return f'{{"numRecords":2,"minValues":{{{inside}}},"maxValues":{{{inside}}}}}'


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("0.7", "0.699999988079071"),
        ("-0.1", "-0.10000000149011612"),
        ("3.4028235E38", "3.4028234663852886e+38"),
        ("1.0E-7", "1.0000000116860974e-07"),
        ("0.5", "0.5"),
        ("1.6777216E7", "1.6777216E7"),
        ("-0.0", "-0.0"),
        ("0.699999988079071", "0.699999988079071"),
        ('"NaN"', '"NaN"'),
        ('"-Infinity"', '"-Infinity"'),
        ("null", "null"),
        ("NaN", "NaN"),
        ("1e300", "1e300"),
    ],
)
def test_a_bound_reads_the_same_as_float_and_as_double(text: str, right: str):
    assert corrected(bounds(x=text), [("x",)]) == bounds(x=right)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_every_float_is_found_by_its_bounds(value: float):
    # As Java writes a float, with no more digits than it needs.
    short = next(
        text for digits in range(1, 10) if as_float(float(text := f"{value:.{digits}g}")) == value
    )
    text = json.loads(corrected(bounds(x=short), [("x",)]))["minValues"]["x"]
    assert float(text) == value


def as_float(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return value


def test_all_other_statistics_keep_their_text():
    others = (
        '"money":12345678901234567890.12345678901234567890,"d":1.0E-300,"t":"a\\"\\\\ü\\u2028",'
        '"s":{"x":0.7,"y":0.7},"list":[1.50,true]'
    )
    text = f'{{"numRecords":2,"minValues":{{"x":0.7,{others}}},"nullCount":{{"x":0}}}}'
    right = text.replace('{"x":0.7,"money', '{"x":0.699999988079071,"money')
    assert json.loads(corrected(text, [("x",)])) == json.loads(right)
    assert corrected(text, [("x",)]) == right.replace("\\u2028", "\u2028")


@pytest.mark.parametrize("text", ["{}", '{"numRecords":1}', '{"minValues":{"s":null}}'])
def test_missing_bounds_stay_missing(text: str):
    assert corrected(text, [("x",), ("s", "x")]) == text


def test_a_field_of_a_struct_is_corrected():
    assert corrected(bounds(s='{"x":0.7,"y":0.7}'), [("s", "x")]) == bounds(
        s='{"x":0.699999988079071,"y":0.7}'
    )


TABLE = schema({"x": "float", "s": {"x": "float", "n": "int"}, "a": ["float"], "b": "boolean"})


def test_columns_and_fields_of_structs_have_statistics():
    assert list(leaves_with_statistics(TABLE)) == [("x",), ("s", "x"), ("s", "n"), ("a",), ("b",)]


def test_a_column_that_was_float_and_is_double_is_found():
    table = schema({"x": "double", "s": {"element": "double"}, "a": ["double"], "y": "float"})
    paths = [("x",), ("s", "element"), ("a", "element"), ("y",), ("gone",)]
    changes = [TypeChange(path, FLOAT, DOUBLE) for path in paths]
    changes.append(TypeChange(("z",), data_type("int"), DOUBLE))
    assert widened_floats(changes, table) == (("x",), ("s", "element"))


def test_a_path_is_translated_to_physical_names():
    key = "delta.columnMapping.physicalName"
    inside = StructType([StructField("x", FLOAT, True, {key: "col-2"})])
    table = StructType([StructField("s", inside, True, {key: "col-1"})])
    assert physical_path(("s", "x"), table) == ("col-1", "col-2")
    assert physical_path(("s", "x"), TABLE) == ("s", "x")


def test_the_schema_with_doubles_keeps_everything_else():
    before = json.loads(TABLE.json())
    before["fields"][0]["metadata"] = {"comment": "ü"}
    after = json.loads(schema_with_doubles(json.dumps(before), [("x",), ("s", "x"), ("s", "n")]))
    before["fields"][0]["type"] = "double"
    before["fields"][1]["type"]["fields"][0]["type"] = "double"
    assert after == before


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("x, s.y", ["x", "s.y"]),
        ("`a,b`.`c``,d`,x", ["`a,b`.`c``,d`", "x"]),
        (" ,x,, y,", ["x", "y"]),
        ("x,`y,z", ["x", "`y,z"]),
    ],
)
def test_the_names_of_columns_are_split_at_commas(text: str, names: list[str]):
    assert statistics_names(text) == names


# The plan


def by_sql_alone(properties: dict[str, str] | None = None, **others: object) -> TableSnapshot:
    enabled = {"delta.enableTypeWidening": "true", **(properties or {})}
    return table_snapshot(enabled, corrects_statistics=False, schema=TABLE, **others)


def by_hand(snapshot: TableSnapshot, *leaves: tuple[str, ...]) -> Plan:
    return plan_by_hand([TypeChange(leaf, FLOAT, DOUBLE) for leaf in leaves], snapshot)


def test_a_session_changes_floats_in_a_separate_commit():
    plan = make_plan(
        {"x": "float", "n": "int", "a": ["float"]},
        {"x": "double", "n": "bigint", "a": ["double"]},
    )
    assert plan.statements == [
        "alter table `s`.`t` alter column `n` type bigint, `a`.`element` type double",
        "alter table `s`.`t` alter column `x` type double /* with the statistics of its files */",
    ]
    assert [type(step) for step in plan.steps] == [AlterTypes, WidenFloats]


def test_with_sql_alone_a_run_is_refused_unless_the_table_is_empty():
    sides = {"x": "float", "a": ["float"]}, {"x": "double", "a": ["double"]}
    assert reasons(make_plan(*sides, snapshot=by_sql_alone())) == [
        (("x",), Reason.FLOAT_STATISTICS)
    ]
    assert reasons(make_plan(*sides, snapshot=by_sql_alone(files=3))) != []
    assert reasons(make_plan(*sides, snapshot=by_sql_alone(files=0))) == []
    assert reasons(make_plan({"a": ["float"]}, {"a": ["double"]}, snapshot=by_sql_alone())) == []


def test_a_run_is_refused_if_the_newest_commits_can_be_in_the_catalog_alone():
    managed = table_snapshot(features=frozenset({"catalogManaged"}), schema=TABLE)
    plan = make_plan({"x": "float"}, {"x": "double"}, snapshot=managed)
    assert reasons(plan) == [(("x",), Reason.FLOAT_STATISTICS)]


def test_a_run_is_refused_if_checkpoints_have_no_text_of_the_statistics():
    properties = {"delta.enableTypeWidening": "true", "delta.checkpoint.writeStatsAsJson": "false"}
    for files, expected in ((3, [(("x",), Reason.FLOAT_IN_CHECKPOINTS)]), (0, [])):
        snapshot = table_snapshot(properties, schema=TABLE, files=files)
        assert reasons(make_plan({"x": "float"}, {"x": "double"}, snapshot=snapshot)) == expected
        assert WidenFloats not in map(type, by_hand(snapshot, ("x",)).steps)


@pytest.mark.parametrize("snapshot", [table_snapshot(partition_columns=("X",)), by_sql_alone()])
def test_a_partition_column_is_refused(snapshot: TableSnapshot):
    snapshot = table_snapshot(
        partition_columns=("X",), corrects_statistics=snapshot.corrects_statistics
    )
    expected = [(("x",), Reason.PARTITIONED_BY_FLOAT)]
    assert reasons(make_plan({"x": "float"}, {"x": "double"}, snapshot=snapshot)) == expected
    assert reasons(by_hand(snapshot, ("x",))) == expected


def test_with_sql_alone_a_change_by_hand_rewrites_the_table():
    plan = by_hand(by_sql_alone(), ("s", "x"))
    guard, update, check, alter, restore = plan.statements
    assert f"'{STATISTICS_COLUMNS}' = '`x`,`s`.`n`'" in guard
    assert update == "update `s`.`t` set `s` = `s`"
    assert check == "describe history `s`.`t`"
    assert alter == "alter table `s`.`t` alter column `s`.`x` type double"
    assert restore == (
        "alter table `s`.`t` unset tblproperties if exists "
        f"('{INDEXED_COLUMNS}', '{STATISTICS_COLUMNS}', '{SAVED_SETTINGS_PROPERTY}')"
    )
    setting, *others = plan.steps
    assert [step.statement for step in setting.undo([setting])] == [restore]
    assert [step.undo(plan.steps) for step in others] == [()] * 4


@pytest.mark.parametrize(
    ("properties", "kept"),
    [
        ({}, "`s`.`n`,`m`"),
        ({INDEXED_COLUMNS: "3"}, "`s`.`n`"),
        ({INDEXED_COLUMNS: "-1"}, "`s`.`n`,`m`"),
        ({STATISTICS_COLUMNS: "x,S.N"}, "`s`.`n`"),
        ({STATISTICS_COLUMNS: "x, `s`, m"}, "`s`.`n`,`m`"),
    ],
)
def test_the_other_columns_keep_their_statistics(properties: dict[str, str], kept: str):
    table = schema({"x": "float", "s": {"x": "float", "n": "int"}, "b": "boolean", "m": "date"})
    snapshot = table_snapshot(properties, schema=table)
    properties, unset = guarding_settings(snapshot, [("x",), ("s", "x")])
    assert (properties[STATISTICS_COLUMNS], unset) == (kept, [])


@pytest.mark.parametrize(
    ("named", "kept"),
    [("X, gone", "X"), ("S,s.gone,`a,b`", "S,`a,b`"), ("gone,s.x.y", None), (None, None)],
)
def test_the_names_of_columns_that_are_gone_are_not_restored(named: str | None, kept: str | None):
    table = schema({"x": "float", "s": {"x": "float"}, "a,b": "int"})
    were_set, were_unset = restored_settings(json.dumps({STATISTICS_COLUMNS: named}), table)
    assert (were_set.get(STATISTICS_COLUMNS), STATISTICS_COLUMNS in were_unset) == (
        kept,
        kept is None,
    )


def test_without_other_indexed_columns_no_statistics_are_kept():
    snapshot = table_snapshot(
        {STATISTICS_COLUMNS: "`a,``b`,x"}, schema=schema({"x": "float", "a,`b": "float"})
    )
    properties, unset = guarding_settings(snapshot, [("x",), ("a,`b",)])
    assert (properties[INDEXED_COLUMNS], unset) == ("0", [STATISTICS_COLUMNS])


def test_the_previous_properties_are_restored_after_a_stopped_widening_too():
    before = json.dumps({INDEXED_COLUMNS: "5", STATISTICS_COLUMNS: None})
    snapshot = by_sql_alone({SAVED_SETTINGS_PROPERTY: before, STATISTICS_COLUMNS: "`s`.`n`"})
    restore = [
        f"alter table `s`.`t` set tblproperties ('{INDEXED_COLUMNS}' = '5')",
        "alter table `s`.`t` unset tblproperties if exists "
        f"('{STATISTICS_COLUMNS}', '{SAVED_SETTINGS_PROPERTY}')",
    ]
    assert restored_settings(before, snapshot.schema) == (
        {INDEXED_COLUMNS: "5"},
        [STATISTICS_COLUMNS, SAVED_SETTINGS_PROPERTY],
    )
    assert by_hand(snapshot, ("x",)).statements[-2:] == restore
    assert by_hand(snapshot).statements == restore
    # A run doesn't restore them: the operation can still be running.
    planned = make_plan({"n": "int"}, {"n": "bigint"}, snapshot=snapshot)
    assert [type(step) for step in planned.steps] == [AlterTypes]
