"""From differences to statements or refusals."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StringType, StructField, StructType

from dbt.adapters.deltawiden.config.policy import OnSchemaChange
from dbt.adapters.deltawiden.delta.protocol import Compatibility
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_by_hand, plan_no_change
from dbt.adapters.deltawiden.widening.refusals import Reason, Refusal
from dbt.adapters.deltawiden.widening.rules import find_rule
from dbt.adapters.deltawiden.widening.schema_diff import compare
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment
from tests.unit.schemas import (
    AUTOMATIC_MODES,
    DELTA_3_3,
    DELTA_4_0,
    DELTA_4_4,
    ENABLED,
    MAPPED,
    PLANNED_MODES,
    by_hand,
    changes,
    data_type,
    facts,
    plan,
    policy,
    reasons,
    schema,
    schema_after,
)
from tests.unit.strategies import (
    FLOATS,
    INTEGERS,
    atoms,
    automatic_policies,
    policies,
    tables_with_sources,
    widenable_tables,
)

known_facts = st.builds(
    facts,
    properties=st.dictionaries(
        st.sampled_from(
            [
                "delta.enableTypeWidening",
                "delta.enableIcebergCompatV1",
                "delta.enableIcebergCompatV2",
                "delta.enableIcebergCompatV3",
            ]
        ),
        st.sampled_from(["true", "false"]),
    ),
    engine=st.sampled_from([DELTA_4_4, DELTA_4_0, DELTA_3_3]),
    format=st.sampled_from(["delta", "delta", "delta", "iceberg"]),
)
mapped_facts = st.sampled_from([facts(), facts({})]).map(
    lambda known: facts({**known.properties, **MAPPED})
)


# Properties


@given(widenable_tables, automatic_policies, known_facts)
def test_a_table_changed_as_planned_stores_every_value_of_the_source(sides, model, known):
    table, source = sides
    made = plan(table, source, model, facts({**known.properties, **ENABLED}))
    if not made.refusals:
        assert not compare(source, schema_after(made, table)).types


@given(widenable_tables, automatic_policies)
def test_what_can_be_widened_is_never_refused(sides, model):
    assert not plan(*sides, model).refusals


@given(tables_with_sources, policies, mapped_facts)
def test_a_schema_that_is_reached_needs_no_plan(sides, model, known):
    table, source = sides
    made = plan(table, source, model, known)
    if made.refusals:
        return
    after = schema_after(made, table)
    assert not compare(source, after).types
    assert not compare(source, after).new
    again = plan(after, source, model, known)
    assert (again.statements, again.refusals) == ([], ())


@given(tables_with_sources, policies, known_facts, st.randoms())
def test_a_plan_does_not_depend_on_the_order_of_columns(sides, model, known, random):
    made = plan(*sides, model, known)
    table, source = [StructType(random.sample(each.fields, len(each.fields))) for each in sides]
    mixed = plan(table, source, model, known)
    for part in ("changes", "new", "dropped", "properties", "refusals"):
        assert set(getattr(mixed, part)) == set(getattr(made, part)), part
    assert set(mixed.write.columns) == set(made.write.columns)
    assert len(mixed.statements) == len(made.statements)


@given(tables_with_sources, policies, known_facts)
def test_a_plan_with_refusals_has_no_statements(sides, model, known):
    made = plan(*sides, model, known)
    if made.refusals:
        assert made.statements == []


@given(tables_with_sources, policies, known_facts)
def test_no_automatic_plan_turns_an_integer_into_decimal_or_double(sides, model, known):
    for change in plan(*sides, model, known).changes:
        if change.from_type in INTEGERS:
            assert change.to_type in INTEGERS


@pytest.mark.parametrize("mode", PLANNED_MODES)
@pytest.mark.parametrize("integer", INTEGERS, ids=type_text)
def test_an_integer_is_never_widened_to_decimal_or_double_by_a_plan(integer, mode):
    decimals = [spark.DecimalType(p, s) for p in range(1, 39) for s in (0, 1, p // 2, p) if s <= p]
    for source, widening in itertools.product([*FLOATS, *decimals], [None, True, False]):
        model = policy(mode, type_widening=widening)
        for known in (facts(), facts({}), facts(engine=DELTA_3_3)):
            made = plan({"v": integer}, {"v": source}, model, known)
            assert not made.changes
            assert bool(made.refusals) == (
                store_assignment(source, integer) is not StoreAssignment.EXACT
            )


@given(tables_with_sources, policies, known_facts)
def test_every_planned_change_keeps_every_value_and_is_one_that_delta_makes(sides, model, known):
    for change in plan(*sides, model, known).changes:
        rule = find_rule(change.from_type, change.to_type)
        assert rule is not None
        assert known.engine.delta >= rule.since
        assert store_assignment(change.from_type, change.to_type) is StoreAssignment.EXACT


@given(tables_with_sources, policies, known_facts)
def test_every_leaf_that_differs_is_changed_or_refused(sides, model, known):
    table, source = sides
    made = plan(table, source, model, known)
    changed = [each.path for each in made.changes]
    refused = {each.path for each in made.refusals}
    assert len(set(changed)) == len(changed)
    assert len(set(made.refusals)) == len(made.refusals)
    for each in compare(source, table).types:
        assert (each.path in changed) != (each.path in refused)


@given(tables_with_sources, known_facts)
def test_under_fail_whatever_differs_is_refused(sides, known):
    table, source = sides
    made = plan(table, source, policy("fail", type_widening=True), known)
    assert bool(made.refusals) == bool(compare(source, table))
    assert not made.statements


@given(tables_with_sources, policies, mapped_facts)
def test_statements_run_in_an_order_in_which_what_can_be_refused_comes_first(sides, model, known):
    kinds = ["set tblproperties", "alter column", "add columns", "drop columns"]
    made = plan(*sides, model, known)
    order = [
        next(i for i, kind in enumerate(kinds) if each.startswith(f"alter table `s`.`t` {kind}"))
        for each in made.statements
        # The change from float to double is a commit of its own.
        if each != made.float_statement or made.changes == made.float_changes
    ]
    assert order == sorted(set(order))


REACHABLE = [
    *INTEGERS,
    *FLOATS,
    spark.DateType(),
    spark.TimestampNTZType(),
    *(spark.DecimalType(p, s) for s in (0, 1, 2, 5, 18) for p in range(max(s, 1), 39)),
]


def reachable(column: DataType, source: DataType) -> bool:
    """Whether Delta can make some type of the column that holds the values of both."""
    return any(
        find_rule(column, each) and store_assignment(source, each) is StoreAssignment.EXACT
        for each in REACHABLE
    )


@pytest.mark.parametrize("scale", [0, 1, 2, 5, 18])
@pytest.mark.parametrize("other", [*INTEGERS, *FLOATS], ids=type_text)
def test_a_change_is_called_impossible_only_where_delta_makes_no_type_that_holds_both(other, scale):
    wrong = []
    for precision in range(max(scale, 1), 39):
        decimal = spark.DecimalType(precision, scale)
        for column, source in ((other, decimal), (decimal, other)):
            impossible = {Reason.IMPOSSIBLE, Reason.TOO_MANY_DIGITS}
            found = {reason for _, reason in reasons(plan({"v": column}, {"v": source}))}
            if found & impossible and reachable(column, source):
                wrong.append(f"table {type_text(column)}, source {type_text(source)}")
    assert wrong == []


@pytest.mark.parametrize("column", [*INTEGERS, *FLOATS], ids=type_text)
@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS], ids=type_text)
def test_no_number_is_called_impossible_where_delta_makes_a_type_that_holds_both(column, source):
    if store_assignment(source, column) is not StoreAssignment.EXACT and reachable(column, source):
        assert (("v",), Reason.IMPOSSIBLE) not in reasons(plan({"v": column}, {"v": source}))


# What each pair becomes


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
    made = plan({"v": table}, {"v": source}, policy(mode))
    assert reasons(made) == []
    assert changes(made) == [(("v",), becomes)]


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
def test_an_integer_to_decimal_or_double_is_left_to_a_person(mode, table, source, by_hand):
    made = plan({"v": table}, {"v": source}, policy(mode, type_widening=True))
    (refusal,) = made.refusals
    assert refusal.reason is Reason.MANUAL
    assert find_rule(data_type(table), refusal.to_type)
    assert type_text(refusal.to_type) == by_hand


@pytest.mark.parametrize("source", ["double", "decimal(12,2)"])
def test_under_fail_an_integer_to_decimal_or_double_is_left_to_a_person_too(source: str):
    # Another mode would not widen it either.
    made = plan({"v": "int"}, {"v": source}, policy("fail"))
    assert reasons(made) == [(("v",), Reason.MANUAL)]


@pytest.mark.parametrize(
    ("table", "source"),
    [
        ("bigint", "double"),
        ("bigint", "float"),
        ("float", "bigint"),
        ("decimal(10,2)", "double"),
        ("decimal(5,0)", "float"),
        ("date", "timestamp"),
        ("timestamp", "timestamp_ntz"),
        ("timestamp_ntz", "timestamp"),
        ("int", "string"),
        ("string", "binary"),
        ("boolean", "int"),
        ("int", ["int"]),
        ({"a": "int"}, "string"),
    ],
)
@pytest.mark.parametrize("mode", PLANNED_MODES)
def test_what_no_type_holds_is_refused_as_impossible(table, source, mode):
    made = plan({"v": table}, {"v": source}, policy(mode))
    assert reasons(made) == [(("v",), Reason.IMPOSSIBLE)]
    assert (made.refusals[0].from_type, made.refusals[0].to_type) == (
        data_type(table),
        data_type(source),
    )


@pytest.mark.parametrize(
    ("table", "source", "digits"),
    [
        ("decimal(38,18)", "decimal(38,10)", "46"),
        ("decimal(38,37)", "int", "47"),
        ("bigint", "decimal(38,20)", "40"),
    ],
)
def test_a_decimal_past_38_digits_is_refused_with_the_digits_it_needs(table, source, digits):
    (refusal,) = plan({"v": table}, {"v": source}).refusals
    assert (refusal.reason, refusal.detail) == (Reason.TOO_MANY_DIGITS, digits)


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
def test_where_the_table_holds_the_source_nothing_is_done(table, source, mode):
    made = plan({"v": table}, {"v": source}, policy(mode), facts({}))
    assert (made.statements, made.refusals) == ([], ())


# Statements


def test_the_statements_of_a_plan_that_does_everything():
    made = plan(
        {"id": "int", "s": {"x": "int", "old": "int"}, "d": "date", "gone": "int"},
        {"id": "bigint", "s": {"x": "bigint", "new": "int"}, "d": "timestamp_ntz", "b": ["int"]},
        policy("sync_all_columns", type_widening=True),
        facts(MAPPED),
    )
    assert made.statements == [
        "alter table `s`.`t` set tblproperties ('delta.enableTypeWidening' = 'true', "
        "'delta.feature.timestampNtz' = 'supported')",
        "alter table `s`.`t` alter column `id` type bigint, `s`.`x` type bigint, "
        "`d` type timestamp_ntz",
        "alter table `s`.`t` add columns (`s`.`new` int, `b` array<int>)",
        "alter table `s`.`t` drop columns (`s`.`old`, `gone`)",
    ]


def test_on_spark_3_5_each_type_is_changed_by_a_statement_of_its_own():
    made = plan(
        {"a": "tinyint", "s": {"x": "smallint"}},
        {"a": "int", "s": {"x": "int"}},
        known=facts(engine=DELTA_3_3),
    )
    assert made.statements == [
        "alter table `s`.`t` alter column `a` type int",
        "alter table `s`.`t` alter column `s`.`x` type int",
    ]


def test_every_part_of_a_name_is_quoted_in_a_statement():
    made = plan(
        {"my col": "int", "a.b": {"c`d": [{"x y": "int"}]}},
        {"my col": "bigint", "a.b": {"c`d": [{"x y": "bigint", "new": {"p q": "int"}}]}},
        known=facts({**ENABLED, **MAPPED}),
    )
    assert made.statements == [
        "alter table `s`.`t` alter column `my col` type bigint, "
        "`a.b`.`c``d`.`element`.`x y` type bigint",
        "alter table `s`.`t` add columns (`a.b`.`c``d`.`element`.`new` struct<`p q`: int>)",
    ]


def test_names_are_those_of_the_table_whatever_the_case_of_the_source():
    made = plan({"Amount": "int", "S": {"X": "int"}}, {"AMOUNT": "bigint", "s": {"x": "bigint"}})
    assert made.statements == [
        "alter table `s`.`t` alter column `Amount` type bigint, `S`.`X` type bigint"
    ]


# The table's property and the model's setting


@pytest.mark.parametrize(
    ("setting", "properties", "refused", "sets_the_property"),
    [
        (None, ENABLED, None, False),
        (None, {}, Reason.NOT_ENABLED, False),
        (None, {"delta.enableTypeWidening": "false"}, Reason.NOT_ENABLED, False),
        (None, {"delta.enableTypeWidening": "TRUE"}, None, False),
        (True, ENABLED, None, False),
        (True, {}, None, True),
        (True, {"delta.enableTypeWidening": "false"}, None, True),
        (False, ENABLED, Reason.TURNED_OFF, False),
        (False, {}, Reason.TURNED_OFF, False),
    ],
)
def test_a_table_is_widened_where_its_property_or_the_model_says_so(
    setting, properties, refused, sets_the_property
):
    made = plan({"v": "int"}, {"v": "bigint"}, policy(type_widening=setting), facts(properties))
    assert [reason for _, reason in reasons(made)] == ([refused] if refused else [])
    assert dict(made.properties) == (ENABLED if sets_the_property else {})


@pytest.mark.parametrize("source", ["int", "string", "decimal(12,2)", "varchar(5)", "variant"])
@pytest.mark.parametrize("setting", [None, True, False])
@pytest.mark.parametrize("mode", AUTOMATIC_MODES)
def test_a_column_of_nulls_takes_the_type_of_the_source_whatever_the_property(
    source: str, setting: bool | None, mode: OnSchemaChange
):
    model = policy(mode, type_widening=setting, compatible_with=frozenset(Compatibility))
    made = plan({"v": "void"}, {"v": source}, model, facts({}))
    assert reasons(made) == []
    assert made.statements == [f"alter table `s`.`t` alter column `v` type {source}"]


def test_a_column_of_nulls_that_becomes_timestamp_ntz_brings_its_feature_only():
    made = plan({"v": "void"}, {"v": "timestamp_ntz"}, known=facts({}))
    assert dict(made.properties) == {"delta.feature.timestampNtz": "supported"}


@pytest.mark.parametrize("source", [["int"], {"a": "int"}, ("int", "int")])
def test_a_column_of_nulls_never_becomes_a_nested_type(source):
    assert reasons(plan({"v": "void"}, {"v": source})) == [(("v",), Reason.IMPOSSIBLE)]


@pytest.mark.parametrize("setting", [None, True, False])
def test_no_property_is_set_where_no_type_is_changed(setting: bool | None):
    made = plan({"v": "int"}, {"v": "int", "w": "int"}, policy(type_widening=setting), facts({}))
    assert made.statements == ["alter table `s`.`t` add columns (`w` int)"]


@pytest.mark.parametrize("source", ["timestamp_ntz", [{"t": "timestamp_ntz"}]])
@pytest.mark.parametrize(("features", "asked"), [((), True), (("timestampNtz",), False)])
def test_a_feature_that_a_new_column_needs_is_supported_once(source, features, asked: bool):
    known = facts(features=frozenset(features))
    made = plan({}, {"v": source, "w": source}, known=known)
    expected = {"delta.feature.timestampNtz": "supported"} if asked else {}
    assert dict(made.properties) == expected


def test_a_feature_that_the_table_supports_is_not_asked_for_again():
    known = facts(features=frozenset({"timestampNtz"}))
    made = plan({"d": "date"}, {"d": "timestamp_ntz"}, known=known)
    assert made.statements == ["alter table `s`.`t` alter column `d` type timestamp_ntz"]


# Engine, format and compatibility


@pytest.mark.parametrize(
    ("table", "source", "needed"),
    [
        ("tinyint", "int", ""),
        ("int", "bigint", "4.0"),
        ("float", "double", "4.0"),
        ("void", "int", "4.4"),
    ],
)
def test_delta_3_3_is_asked_only_for_what_it_makes(table: str, source: str, needed: str):
    made = plan({"v": table}, {"v": source}, known=facts(engine=DELTA_3_3))
    assert [each.detail for each in made.refusals] == ([needed] if needed else [])
    assert all(each.reason is Reason.ENGINE_TOO_OLD for each in made.refusals)


def test_a_table_of_another_format_is_not_widened():
    made = plan(
        {"v": "int"},
        {"v": "bigint"},
        policy(type_widening=True),
        facts({}, format="iceberg"),
    )
    (refusal,) = made.refusals
    assert (refusal.reason, refusal.detail) == (Reason.NOT_DELTA, "iceberg")


def test_a_table_of_another_format_gets_no_property_of_delta():
    known = facts({}, format="iceberg")
    made = plan({"a": "int"}, {"a": "int", "t": "timestamp_ntz"}, known=known)
    assert made.statements == ["alter table `s`.`t` add columns (`t` timestamp_ntz)"]


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
    made = plan({"v": table}, {"v": source}, policy(compatible_with=compatible_with))
    assert [each.detail for each in made.refusals] == ([missing] if missing else [])
    assert all(each.reason is Reason.INCOMPATIBLE for each in made.refusals)


# Columns that only one side has


@pytest.mark.parametrize("mode", AUTOMATIC_MODES)
def test_new_columns_and_fields_are_added(mode: OnSchemaChange):
    made = plan({"s": {"a": "int"}}, {"s": {"a": "int", "b": "int"}, "c": "date"}, policy(mode))
    assert made.statements == ["alter table `s`.`t` add columns (`s`.`b` int, `c` date)"]


def test_append_keeps_a_column_that_is_gone_and_writes_null():
    made = plan({"id": "int", "s": {"a": "int", "b": "int"}, "w": "date"}, {"s": {"a": "int"}})
    assert (made.statements, made.refusals) == ([], ())
    assert [each.select_sql for each in made.write.columns] == [
        "cast(null as int) as `id`",
        "if(`s` is null, null, named_struct('a', `s`.`a`, 'b', cast(null as int))) as `s`",
        "cast(null as date) as `w`",
    ]


def test_append_refuses_to_write_null_into_a_column_declared_not_null():
    table = StructType([StructField("id", spark.IntegerType(), nullable=False)])
    assert reasons(plan(table, {})) == [(("id",), Reason.MISSING_AND_NOT_NULL)]


@pytest.mark.parametrize(
    ("mapping", "dropped"),
    [("name", True), ("ID", True), ("none", False), (None, False)],
)
def test_sync_drops_a_column_only_under_column_mapping(mapping: str | None, dropped: bool):
    properties = {**ENABLED, **({"delta.columnMapping.mode": mapping} if mapping else {})}
    made = plan(
        {"a": "int", "b": "int"}, {"a": "int"}, policy("sync_all_columns"), facts(properties)
    )
    if dropped:
        assert made.statements == ["alter table `s`.`t` drop columns (`b`)"]
        # It is dropped after the write.
        assert made.statements_before_write == []
        assert [(each.name, each.in_source) for each in made.write.columns] == [
            ("a", True),
            ("b", False),
        ]
    else:
        assert reasons(made) == [(("b",), Reason.DROP_NEEDS_COLUMN_MAPPING)]


@pytest.mark.parametrize("properties", [{}, MAPPED])
@pytest.mark.parametrize(("partition", "column"), [("day", "day"), ("Day", "day"), ("day", "Day")])
def test_sync_never_drops_a_column_that_the_table_is_partitioned_by(properties, partition, column):
    known = facts(properties, partition_columns=(partition,))
    made = plan({"a": "int", column: "date"}, {"a": "int"}, policy("sync_all_columns"), known)
    assert reasons(made) == [((column,), Reason.MISSING_AND_PARTITIONED_BY)]


def test_append_keeps_a_column_that_the_table_is_partitioned_by():
    known = facts(partition_columns=("day",))
    assert not plan({"a": "int", "day": "date"}, {"a": "int"}, known=known).refusals


def test_fail_refuses_every_difference_and_says_what_could_be_widened():
    made = plan(
        {"v": "int", "d": "decimal(10,2)", "gone": "int", "s": {"x": "int"}},
        {"v": "bigint", "d": "decimal(10,4)", "new": "int", "s": {"x": "int", "y": "int"}},
        policy("fail", type_widening=True),
    )
    assert [(each.path, each.reason, each.to_type) for each in made.refusals] == [
        (("v",), Reason.MODE_IS_FAIL, data_type("bigint")),
        (("d",), Reason.MODE_IS_FAIL, data_type("decimal(12,4)")),
        (("s", "y"), Reason.NEW_AND_MODE_IS_FAIL, data_type("int")),
        (("new",), Reason.NEW_AND_MODE_IS_FAIL, data_type("int")),
        (("gone",), Reason.MISSING_AND_MODE_IS_FAIL, None),
    ]


def test_all_refusals_are_in_the_plan_together():
    made = plan(
        {"a": "int", "b": "bigint", "c": "date", "ok": "int", "gone": "int"},
        {"a": "double", "b": "double", "c": "timestamp_ntz", "ok": "bigint", "new": "int"},
        policy("sync_all_columns", compatible_with=ICEBERG),
    )
    assert reasons(made) == [
        (("a",), Reason.MANUAL),
        (("b",), Reason.IMPOSSIBLE),
        (("c",), Reason.INCOMPATIBLE),
        (("gone",), Reason.DROP_NEEDS_COLUMN_MAPPING),
    ]
    assert made.statements == []


# The columns of the write


def test_the_columns_of_the_write_are_those_of_the_changed_table_in_its_order():
    made = plan(
        {"Id": "int", "gone": "int", "v": "float"},
        {"v": "double", "new": "date", "id": "bigint"},
    )
    assert [(each.name, each.type, each.in_source) for each in made.write.columns] == [
        ("Id", data_type("bigint"), True),
        ("gone", data_type("int"), False),
        ("v", data_type("double"), True),
        ("new", data_type("date"), True),
    ]


@given(tables_with_sources, policies, mapped_facts)
def test_the_columns_of_the_write_are_those_that_the_table_has_then(sides, model, known):
    table, source = sides
    made = plan(table, source, model, known)
    if not made.refusals:
        after = schema_after(replace(made, dropped=()), table)
        assert [(each.name, type_text(each.type)) for each in made.write.columns] == [
            (each.name, type_text(each.dataType)) for each in after.fields
        ]


@pytest.mark.parametrize(
    ("table", "source", "can"),
    [
        ({"a": "int"}, {"a": "int"}, True),
        ({"my col": "int"}, {"my col": "int"}, True),
        ({"a": "int", "b": "int"}, {"a": "int"}, False),
        ({"a`b": "int"}, {"a`b": "int"}, False),
    ],
)
def test_a_merge_may_write_a_star_where_every_column_is_there_and_can_be_named(table, source, can):
    assert plan(table, source).write.can_merge_all is can


# Without changes, by hand, and back


def test_a_plan_that_changes_nothing_names_what_is_not_stored_exactly():
    table, source = (
        schema({"a": "int", "b": "int", "c": "int"}),
        schema({"A": "bigint", "b": "int"}),
    )
    made = plan_no_change(compare(source, table), source, table, "`s`.`t`")
    assert made.statements == []
    assert reasons(made) == [(("c",), Reason.MISSING_AND_MODE_IS_IGNORE)]
    assert [each.path for each in made.lossy] == [("a",)]
    assert [(each.name, each.in_source) for each in made.write.columns] == [
        ("a", True),
        ("b", True),
        ("c", True),
    ]


def test_ignoring_a_nested_field_is_refused_because_a_struct_is_written_whole():
    table, source = (
        schema({"s": {"a": "int", "gone": "int"}}),
        schema({"s": {"a": "int", "b": "int"}}),
    )
    made = plan_no_change(compare(source, table), source, table, "`t`")
    assert reasons(made) == [
        (("s", "b"), Reason.NESTED_AND_MODE_IS_IGNORE),
        (("s", "gone"), Reason.NESTED_AND_MODE_IS_IGNORE),
    ]


@given(tables_with_sources)
def test_a_plan_that_changes_nothing_never_has_a_statement(sides):
    table, source = sides
    made = plan_no_change(compare(source, table), source, table, "`t`")
    assert made.statements == []
    refused = {each.path for each in made.refusals if each.reason is Reason.NOT_WRITABLE}
    told = {each.path for each in made.lossy} | refused
    assert told == {each.path for each in compare(source, table).types}


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
def test_a_person_may_ask_for_whatever_delta_makes(from_type: str, to_type: str):
    known = facts(features=frozenset({"timestampNtz"}))
    assert by_hand(from_type, to_type, known).statements == [
        f"alter table `s`.`t` alter column `v` type {to_type}"
    ]


@pytest.mark.parametrize(
    ("from_type", "to_type", "known", "reason"),
    [
        ("bigint", "double", facts(), Reason.IMPOSSIBLE),
        ("bigint", "int", facts(), Reason.IMPOSSIBLE),
        ("bigint", "decimal(19,0)", facts(), Reason.IMPOSSIBLE),
        ("int", "decimal(10,2)", facts(), Reason.IMPOSSIBLE),
        ("varchar(10)", "varchar(5)", facts(), Reason.IMPOSSIBLE),
        ("int", "string", facts(), Reason.IMPOSSIBLE),
        ("int", "double", facts(engine=DELTA_3_3), Reason.ENGINE_TOO_OLD),
        ("int", "bigint", facts({}, format="hudi"), Reason.NOT_DELTA),
        ("int", "double", facts({"delta.enableIcebergCompatV2": "true"}), Reason.INCOMPATIBLE),
    ],
)
def test_what_delta_does_not_make_is_refused_to_a_person_too(from_type, to_type, known, reason):
    made = by_hand(from_type, to_type, known)
    assert made.refusals == (
        Refusal(
            reason,
            ("v",),
            data_type(from_type),
            data_type(to_type),
            made.refusals[0].detail,
        ),
    )
    assert made.statements == []


def test_a_change_by_hand_turns_the_property_on_where_it_is_off():
    assert by_hand("int", "double", facts({})).statements == [
        "alter table `s`.`t` set tblproperties ('delta.enableTypeWidening' = 'true')",
        "alter table `s`.`t` alter column `v` type double",
    ]


def test_a_longer_varchar_by_hand_needs_no_property():
    assert by_hand("varchar(5)", "varchar(10)", facts({})).statements == [
        "alter table `s`.`t` alter column `v` type varchar(10)"
    ]


def test_a_change_by_hand_to_the_type_that_is_there_is_left_out():
    made = by_hand("int", "int", facts({}))
    assert (made.statements, made.refusals, made.changes) == ([], (), ())


@given(st.lists(st.tuples(atoms, atoms), max_size=4), known_facts)
def test_a_change_by_hand_is_made_or_refused_and_never_lossy(pairs, known):
    requested = [TypeChange((f"c{i}",), *pair) for i, pair in enumerate(pairs)]
    made = plan_by_hand(requested, known)
    decided = {each.path for each in (*made.changes, *made.refusals)}
    assert decided == {each.path for each in requested if each.from_type != each.to_type}
    for each in made.changes:
        assert store_assignment(each.from_type, each.to_type) is StoreAssignment.EXACT


UNSET = "alter table `s`.`t` unset tblproperties if exists ('delta.enableTypeWidening')"


def widening_that_turns_the_property_on(known: TableSnapshot | None = None) -> Plan:
    table, source = {"a": "tinyint", "b": "tinyint"}, {"a": "int", "b": "int", "c": "int"}
    return plan(table, source, policy(type_widening=True), known or facts({}))


def test_a_property_turned_on_for_changes_that_failed_is_turned_off_again():
    made = widening_that_turns_the_property_on()
    assert made.undo(made.statements[:1]) == [UNSET]


@pytest.mark.parametrize("ran", [0, 2, 3])
def test_nothing_is_taken_back_before_the_property_was_set_or_after_a_type_was_changed(ran: int):
    made = widening_that_turns_the_property_on()
    assert made.undo(made.statements[:ran]) == []


def test_one_changed_column_keeps_the_property_where_each_has_a_statement_of_its_own():
    made = widening_that_turns_the_property_on(facts({}, engine=DELTA_3_3))
    assert made.undo(made.statements[:1]) == [UNSET]
    assert made.undo(made.statements[:2]) == []


def test_a_property_that_was_on_before_is_never_turned_off():
    made = widening_that_turns_the_property_on(facts())
    assert made.undo(made.statements[:1]) == []


def test_the_statements_that_ran_may_come_from_an_iterator():
    made = widening_that_turns_the_property_on()
    assert made.undo(iter(made.statements[:1])) == [UNSET]


@pytest.mark.parametrize(
    ("value", "expected"), [("true", True), ("True", True), ("false", False), ("", False)]
)
def test_a_table_has_a_property_where_its_text_says_true(value: str, expected: bool):
    assert facts({"delta.enableTypeWidening": value}).has("delta.enableTypeWidening") is expected
    assert not facts({}).has("delta.enableTypeWidening")


def test_a_collation_is_never_changed():
    made = plan({"v": StringType("UTF8_LCASE")}, {"v": "string"})
    assert (made.statements, made.refusals) == ([], ())
