"""What a table holds that stands in the way of a change, whatever the types are."""

from typing import Any

import pytest
from hypothesis import given
from pyspark.sql import types as spark
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.delta.engine import Engine
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import Path, path_sql
from dbt.adapters.deltawiden.sql.types import UnreadableType
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_no_change
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.schema_diff import compare
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
    facts,
    plan,
    policy,
    reasons,
    schema,
)
from tests.unit.strategies import names


def details(made: Plan) -> list[tuple[Reason, str]]:
    return [(each.reason, each.detail) for each in made.refusals]


def checked(*expressions: str, **others: Any) -> TableSnapshot:
    """A table with CHECK constraints, the first named c0."""
    constraints = {f"delta.constraints.c{i}": text for i, text in enumerate(expressions)}
    return facts({**ENABLED, **MAPPED, **constraints}, **others)


# CHECK constraints


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
def test_what_a_check_constraint_uses_is_not_widened(expression, table, source, refused):
    made = plan(table, source, known=checked(expression))
    assert reasons(made) == [(path, Reason.CONSTRAINT) for path in refused]
    assert {each.detail for each in made.refusals} <= {expression}
    assert {each.name for each in made.refusals} <= {"`c0`"}


def test_what_a_check_constraint_uses_is_not_widened_by_hand_either():
    known = checked("s.x > 0")
    assert reasons(by_hand("int", "double", known, ("s", "x"))) == [(("s", "x"), Reason.CONSTRAINT)]
    assert not by_hand("int", "double", known, ("s", "y")).refusals


def test_each_check_constraint_is_a_refusal_that_names_it():
    known = facts(
        {**ENABLED, "delta.constraints.my check": "v > 0", "delta.constraints.b": "v < w"}
    )
    made = plan({"v": "int"}, {"v": "bigint"}, known=known)
    assert [(each.name, each.detail) for each in made.refusals] == [
        ("`my check`", "v > 0"),
        ("`b`", "v < w"),
    ]


@pytest.mark.parametrize(
    ("from_type", "to_type"),
    [("varchar(5)", "varchar(10)"), ("void", "int"), ("date", "timestamp_ntz")],
)
def test_a_check_constraint_stands_in_the_way_of_every_kind_of_change(from_type, to_type):
    made = by_hand(from_type, to_type, checked("v is not null"))
    assert reasons(made) == [(("v",), Reason.CONSTRAINT)]


def test_a_check_constraint_on_a_column_that_stays_as_it_is_refuses_nothing():
    made = plan({"v": "bigint", "w": "int"}, {"v": "int", "w": "bigint"}, known=checked("v > 0"))
    assert (changes(made), reasons(made)) == ([(("w",), "bigint")], [])


@given(names)
def test_a_check_constraint_is_seen_whatever_the_name_of_its_column(name: str):
    made = by_hand("int", "bigint", checked(f"{path_sql((name,))} > 0"), (name,))
    assert reasons(made) == [((name,), Reason.CONSTRAINT)]


# Generated and identity columns

MADE = facts(
    {**ENABLED, **MAPPED},
    generated={"Tenfold": "amount * 10", "day": "cast(s.at as date)"},
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
    made = plan(MADE_TABLE, source, known=MADE)
    found = [(each.path, each.reason, each.detail, each.name) for each in made.refusals]
    assert found == expected


@pytest.mark.parametrize(
    ("column", "from_type", "to_type", "reason"),
    [
        ("Number", "bigint", "decimal(20,0)", Reason.IDENTITY),
        ("Tenfold", "int", "double", Reason.GENERATED),
        ("amount", "int", "decimal(12,2)", Reason.INPUT_OF_GENERATED),
    ],
)
def test_a_person_may_not_widen_what_delta_makes_either(column, from_type, to_type, reason):
    assert reasons(by_hand(from_type, to_type, MADE, (column,))) == [((column,), reason)]


@pytest.mark.parametrize("field", ["Tenfold", "Number"])
def test_a_nested_field_is_not_made_by_delta_because_a_column_of_its_name_is(field: str):
    known = facts(generated={"Tenfold": "id * 10"}, identity=frozenset({"Number"}))
    assert not by_hand("int", "bigint", known, ("s", field)).refusals
    assert by_hand("int", "bigint", known, (field, "x")).refusals


def test_a_generated_column_that_another_is_generated_from_has_both_refusals():
    known = facts(generated={"a": "x + 1", "b": "a + 1"})
    made = by_hand("int", "bigint", known, ("a",))
    assert [each.reason for each in made.refusals] == [Reason.INPUT_OF_GENERATED, Reason.GENERATED]


@pytest.mark.parametrize("mode", PLANNED_MODES)
def test_columns_that_delta_makes_are_left_to_it_where_the_source_lacks_them(mode):
    source = {"amount": "int", "id": "int", "s": {"at": "date", "x": "int"}}
    made = plan(MADE_TABLE, source, policy(mode), MADE)
    assert (made.statements, made.refusals, made.dropped) == ([], (), ())
    assert [each.name for each in made.write.columns] == ["id", "amount", "s"]
    assert all(each.in_source for each in made.write.columns)
    assert made.write.leaves_out
    assert not made.write.can_merge_all


@pytest.mark.parametrize("mode", PLANNED_MODES)
def test_columns_that_delta_makes_are_written_where_the_source_has_them(mode):
    made = plan(MADE_TABLE, MADE_TABLE, policy(mode), MADE)
    assert [each.name for each in made.write.columns] == list(MADE_TABLE)
    assert not made.write.leaves_out
    assert made.write.can_merge_all


def test_beside_columns_that_delta_makes_others_are_dropped_filled_and_refused():
    source = {"amount": "int", "s": {"at": "date", "x": "int"}}
    dropped = plan(MADE_TABLE, source, policy("sync_all_columns"), MADE)
    assert dropped.statements == ["alter table `s`.`t` drop columns (`id`)"]
    filled = plan(MADE_TABLE, source, policy("append_new_columns"), MADE)
    assert [(each.name, each.in_source) for each in filled.write.columns] == [
        ("id", False),
        ("amount", True),
        ("s", True),
    ]
    refused = plan(MADE_TABLE, source, policy("fail"), MADE)
    assert reasons(refused) == [(("id",), Reason.MISSING_AND_MODE_IS_FAIL)]


def test_a_column_that_delta_makes_may_be_not_null_and_partition_the_table():
    table = StructType(
        [
            StructField("at", spark.DateType()),
            StructField("day", spark.DateType(), nullable=False),
        ]
    )
    known = facts(generated={"day": "cast(at as date)"}, partition_columns=("day",))
    for mode in PLANNED_MODES:
        assert not plan(table, {"at": "date"}, policy(mode), known).refusals


def test_a_plan_that_changes_nothing_leaves_columns_to_delta_too():
    source, table = schema({"id": "int"}), schema({"id": "int", "Tenfold": "int", "gone": "int"})
    made = plan_no_change(compare(source, table), source, table, "`t`", frozenset({"tenfold"}))
    assert [each.name for each in made.write.columns] == ["id", "gone"]
    assert made.write.leaves_out


# The preview of type widening

PREVIEW = frozenset({"typeWidening-preview"})
STABLE = frozenset({"typeWidening"})


@pytest.mark.parametrize(
    ("table", "source", "features", "refused"),
    [
        ("int", "bigint", PREVIEW, True),
        ("float", "double", PREVIEW, True),
        ("decimal(10,2)", "decimal(12,2)", PREVIEW, True),
        ("date", "timestamp_ntz", PREVIEW, True),
        ("tinyint", "bigint", PREVIEW, True),
        ("tinyint", "smallint", PREVIEW, False),
        ("tinyint", "int", PREVIEW, False),
        ("smallint", "int", PREVIEW, False),
        ("varchar(5)", "varchar(10)", PREVIEW, False),
        ("void", "bigint", PREVIEW, False),
        ("int", "bigint", PREVIEW | STABLE, False),
        ("int", "bigint", STABLE, False),
        ("int", "bigint", frozenset(), False),
    ],
)
def test_with_the_preview_only_what_it_knows_is_widened(table, source, features, refused: bool):
    made = by_hand(table, source, facts(features=features))
    assert [each.reason for each in made.refusals] == ([Reason.PREVIEW_ONLY] if refused else [])


# Iceberg


@pytest.mark.parametrize(
    ("properties", "features"),
    [
        ({"delta.enableIcebergCompatV1": "true"}, ()),
        ({"delta.enableIcebergCompatV2": "true"}, ()),
        ({"delta.enableIcebergCompatV3": "true"}, ()),
        ({}, ("icebergCompatV1",)),
        ({}, ("icebergCompatV2",)),
        ({"delta.enableIcebergCompatV2": "false"}, ("icebergCompatV2",)),
        ({}, ("icebergCompatV3",)),
        ({"delta.universalFormat.enabledFormats": "iceberg"}, ()),
        ({"delta.universalFormat.enabledFormats": "hudi, Iceberg"}, ()),
        ({"delta.columnMapping.mode": "id", "delta.enableIcebergWriterCompatV1": "true"}, ()),
        ({"delta.columnMapping.mode": "id"}, ("icebergWriterCompatV1",)),
    ],
)
def test_a_table_kept_compatible_with_iceberg_takes_only_changes_that_iceberg_has(
    properties, features
):
    known = facts({**ENABLED, **properties}, features=frozenset(features))
    made = plan(
        {"t": "date", "grown": "decimal(10,2)", "kept": "decimal(10,2)", "i": "int", "n": "void"},
        {
            "t": "timestamp_ntz",
            "grown": "decimal(12,4)",
            "kept": "decimal(12,2)",
            "i": "bigint",
            "n": "int",
        },
        known=known,
    )
    assert reasons(made) == [(("t",), Reason.INCOMPATIBLE), (("grown",), Reason.INCOMPATIBLE)]
    assert {each.detail for each in made.refusals} == {"iceberg_v2"}
    assert [path for path, _ in changes(made)] == [("kept",), ("i",), ("n",)]


@pytest.mark.parametrize(
    "properties",
    [
        {"delta.enableIcebergCompatV1": "false"},
        {"delta.enableIcebergCompatV2": "false"},
        {"delta.enableIcebergCompatV3": "false"},
        {"delta.universalFormat.enabledFormats": "hudi"},
        {"delta.universalFormat.enabledFormats": ""},
        {"delta.enableIcebergWriterCompatV1": "false"},
    ],
)
def test_a_table_not_kept_compatible_with_iceberg_takes_every_change(properties):
    made = plan({"t": "date"}, {"t": "timestamp_ntz"}, known=facts({**ENABLED, **properties}))
    assert not made.refusals


# IcebergWriterCompatV1


def writer(mode: str = "id", features: tuple[str, ...] = (), **others: Any) -> TableSnapshot:
    properties = {"delta.columnMapping.mode": mode, "delta.enableIcebergWriterCompatV1": "true"}
    return facts({**ENABLED, **properties}, features=frozenset(features), **others)


ALLOWED = (
    *("appendOnly", "columnMapping", "icebergWriterCompatV1", "icebergCompatV2", "domainMetadata"),
    *("vacuumProtocolCheck", "v2Checkpoint", "inCommitTimestamp", "clustering", "timestampNtz"),
    *("typeWidening", "invariants", "changeDataFeed", "checkConstraints", "identityColumns"),
    "generatedColumns",
)
NO_PREVIEW = "it allows no typeWidening-preview"


@pytest.mark.parametrize(
    ("from_type", "to_type", "known", "told"),
    [
        ("int", "bigint", writer(), []),
        ("int", "bigint", writer(features=ALLOWED), []),
        ("int", "bigint", writer("ID"), []),
        ("tinyint", "smallint", writer(), ["a table with it has no smallint"]),
        ("void", "tinyint", writer(), ["a table with it has no tinyint"]),
        ("int", "bigint", writer("name"), ["column mapping is name, not id"]),
        ("int", "bigint", writer("none"), ["column mapping is none, not id"]),
        (
            "int",
            "bigint",
            writer(features=("deletionVectors", "typeWidening")),
            ["it allows no deletionVectors"],
        ),
        (
            "int",
            "bigint",
            writer(features=("variantType", "deletionVectors")),
            ["it allows no deletionVectors, variantType"],
        ),
        ("tinyint", "int", writer(engine=DELTA_3_3), [NO_PREVIEW]),
        ("tinyint", "int", writer(features=("typeWidening",), engine=DELTA_3_3), []),
        ("tinyint", "int", writer(engine=DELTA_4_0), []),
        ("varchar(5)", "string", writer(engine=DELTA_3_3), []),
        ("tinyint", "int", writer(features=("typeWidening-preview",)), [NO_PREVIEW]),
        (
            "tinyint",
            "smallint",
            writer("name", ("deletionVectors",)),
            [
                "column mapping is name, not id",
                "a table with it has no smallint",
                "it allows no deletionVectors",
            ],
        ),
    ],
)
def test_what_iceberg_writer_compat_v1_forbids_is_refused(from_type, to_type, known, told):
    made = by_hand(from_type, to_type, known)
    assert details(made) == [(Reason.WRITER_COMPATIBILITY, each) for each in told]


def test_iceberg_writer_compat_v1_forbids_the_same_where_it_is_a_feature():
    known = facts({**ENABLED, **MAPPED}, features=frozenset({"icebergWriterCompatV1"}))
    assert reasons(by_hand("int", "bigint", known)) == [(("v",), Reason.WRITER_COMPATIBILITY)]


def test_under_iceberg_writer_compat_v1_no_column_or_field_is_added():
    made = plan({"s": {"x": "int"}}, {"s": {"x": "int", "y": "int"}, "b": "int"}, known=writer())
    assert reasons(made) == [
        (("s", "y"), Reason.WRITER_COMPATIBILITY_AND_NEW),
        (("b",), Reason.WRITER_COMPATIBILITY_AND_NEW),
    ]


def test_all_that_iceberg_writer_compat_v1_has_against_a_new_column_is_told():
    # A new column widens nothing, so Delta 3.3 turns no preview on for it.
    known = writer("name", ("deletionVectors",), engine=DELTA_3_3)
    made = plan({}, {"b": [{"x": "smallint"}]}, known=known)
    assert details(made) == [
        (Reason.WRITER_COMPATIBILITY_AND_NEW, ""),
        (Reason.WRITER_COMPATIBILITY, "column mapping is name, not id"),
        (Reason.WRITER_COMPATIBILITY, "a table with it has no smallint"),
        (Reason.WRITER_COMPATIBILITY, "it allows no deletionVectors"),
    ]


# New columns

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
def test_a_new_column_of_a_type_that_delta_can_not_store_is_refused(mode, new, detail: str):
    made = plan({}, {"v": new, "ok": "int"}, policy(mode))
    assert reasons(made) == [(("v",), Reason.NOT_STORABLE)]
    assert made.refusals[0].detail == detail


@pytest.mark.parametrize(
    ("table", "source", "engine", "refused"),
    [
        ({}, {"v": "void"}, DELTA_4_4, None),
        ({}, {"v": {"a": "void"}}, DELTA_4_4, None),
        ({"s": {"a": "int"}}, {"s": {"a": "int", "b": "void"}}, DELTA_4_4, None),
        ({}, {"v": "void"}, DELTA_4_3, ("v",)),
        ({}, {"v": "void"}, DELTA_4_0, ("v",)),
        ({}, {"v": "void"}, DELTA_3_3, ("v",)),
        ({}, {"v": ["void"]}, DELTA_4_4, ("v",)),
        ({}, {"v": {"a": [{"b": "void"}]}}, DELTA_4_4, ("v",)),
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
        # Only a word of a path that stands for the inside of an array or a map is one.
        ({"s": {"a": "int"}}, {"s": {"a": "int", "value": "void"}}, DELTA_4_4, None),
        ({"key": {"a": "int"}}, {"key": {"a": "int", "b": "void"}}, DELTA_4_4, None),
    ],
)
def test_a_new_column_of_nulls_is_one_that_can_get_a_type_later(table, source, engine, refused):
    made = plan(table, source, known=facts(engine=engine))
    assert reasons(made) == ([(refused, Reason.VOID)] if refused else [])


@pytest.mark.parametrize(
    "name", ["a b", "a,b", "a;b", "{a", "a}", "(a", "a)", "a\nb", "a\tb", "a=b"]
)
def test_a_new_name_with_a_character_that_parquet_reserves_needs_column_mapping(name: str):
    for mapping in ({}, {"delta.columnMapping.mode": "none"}):
        made = plan({}, {name: "int"}, known=facts({**ENABLED, **mapping}))
        assert details(made) == [(Reason.NAME_NEEDS_COLUMN_MAPPING, f"`{name}`")]
    for mode in ("name", "id"):
        known = facts({**ENABLED, "delta.columnMapping.mode": mode})
        assert not plan({}, {name: "int"}, known=known).refusals


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
def test_each_new_name_and_no_other_is_held_against_column_mapping(table, source, refused):
    expected = [(refused, Reason.NAME_NEEDS_COLUMN_MAPPING)] if refused else []
    assert reasons(plan(table, source)) == expected


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
    made = plan({}, {"v": new}, known=facts(features=frozenset({feature})))
    told = [each for each in details(made) if each[0] is Reason.NOT_IN_ICEBERG]
    assert told == ([(Reason.NOT_IN_ICEBERG, f"{feature}: {lacking}")] if lacking else [])


def test_all_that_stands_in_the_way_of_a_new_column_is_told():
    known = facts(features=frozenset({V1, V2}), engine=DELTA_4_0)
    made = plan({}, {"my col": ["void"], "w": INTERVAL}, known=known)
    assert reasons(made) == [
        (("my col",), Reason.VOID),
        (("my col",), Reason.NAME_NEEDS_COLUMN_MAPPING),
        (("my col",), Reason.NOT_IN_ICEBERG),
        (("my col",), Reason.NOT_IN_ICEBERG),
        (("w",), Reason.NOT_STORABLE),
    ]


def test_under_fail_a_new_column_is_refused_for_the_mode_alone():
    made = plan({}, {"my col": INTERVAL}, policy("fail"))
    assert reasons(made) == [(("my col",), Reason.NEW_AND_MODE_IS_FAIL)]


def test_a_new_column_of_another_format_is_left_to_that_format():
    made = plan({}, {"my col": INTERVAL, "n": ["void"]}, known=facts({}, format="iceberg"))
    assert not made.refusals


# Drops


def dropping(table: Any, source: Any, known: TableSnapshot) -> list[tuple[Path, Reason]]:
    return reasons(plan(table, source, policy("sync_all_columns"), known))


GONE_FIELD = {"id": "int", "s": {"x": "int", "y": "int"}}, {"id": "int", "s": {"x": "int"}}


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (checked("gone > 0"), [Reason.CONSTRAINT]),
        (checked("gone > 0", "id < GONE"), [Reason.CONSTRAINT, Reason.CONSTRAINT]),
        (checked("id > 0"), []),
        (facts(MAPPED, generated={"made": "gone + 1"}), [Reason.INPUT_OF_GENERATED]),
        (facts(MAPPED, clustering_columns=(("gONE",),)), [Reason.GONE_AND_CLUSTERED_BY]),
        (facts(MAPPED, clustering_columns=(("id",), ("s", "gone"))), []),
        (facts({}), [Reason.DROP_NEEDS_COLUMN_MAPPING]),
        (
            facts(
                {"delta.constraints.c": "gone > 0"},
                clustering_columns=(("gone",),),
                generated={"made": "gone + 1"},
            ),
            [
                Reason.DROP_NEEDS_COLUMN_MAPPING,
                Reason.CONSTRAINT,
                Reason.INPUT_OF_GENERATED,
                Reason.GONE_AND_CLUSTERED_BY,
            ],
        ),
    ],
)
def test_all_that_stands_in_the_way_of_a_drop_is_told(known: TableSnapshot, expected: list[Reason]):
    refused = dropping({"id": "int", "Gone": "int"}, {"id": "int"}, known)
    assert refused == [(("Gone",), reason) for reason in expected]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (checked("s.y > 0"), [Reason.CONSTRAINT]),
        (checked("s is not null"), [Reason.CONSTRAINT]),
        (checked("s.x > 0"), []),
        (facts(MAPPED, clustering_columns=(("id",), ("S", "Y"))), [Reason.GONE_AND_CLUSTERED_BY]),
        (facts(MAPPED, clustering_columns=(("s", "x"),)), []),
        (facts(MAPPED, clustering_columns=(("y",),)), []),
        (facts(MAPPED, partition_columns=("y",)), []),
        (facts(MAPPED, generated={"made": "s.y + 1"}), [Reason.INPUT_OF_GENERATED]),
    ],
)
def test_a_nested_field_is_dropped_where_nothing_uses_it(known, expected: list[Reason]):
    assert dropping(*GONE_FIELD, known) == [(("s", "y"), reason) for reason in expected]


def test_a_struct_is_not_dropped_if_a_field_in_it_is_a_clustering_column():
    known = facts(MAPPED, clustering_columns=(("s", "x"),))
    refused = dropping({"id": "int", "s": {"x": "int"}}, {"id": "int"}, known)
    assert refused == [(("s",), Reason.GONE_AND_CLUSTERED_BY)]


def test_no_column_is_dropped_from_a_table_of_another_format():
    refused = dropping({"id": "int", "gone": "int"}, {"id": "int"}, facts(MAPPED, format="iceberg"))
    assert refused == [(("gone",), Reason.DROP_NEEDS_DELTA)]


def test_a_refused_drop_names_the_constraint_and_the_column():
    made = plan(
        {"id": "int", "v": "int"}, {"id": "int"}, policy("sync_all_columns"), checked("v > 0")
    )
    (refusal,) = made.refusals
    assert (refusal.name, refusal.detail, refusal.from_type) == (
        "`c0`",
        "v > 0",
        spark.IntegerType(),
    )


def test_what_stands_in_the_way_of_a_drop_is_nothing_to_a_column_that_is_kept():
    known = checked("gone > 0", clustering_columns=(("gone",),))
    assert not plan({"id": "int", "gone": "int"}, {"id": "int"}, known=known).refusals


# All refusals of a column together


@pytest.mark.parametrize(
    ("setting", "mode", "expected"),
    [
        (None, "append_new_columns", [Reason.NOT_ENABLED, Reason.CONSTRAINT]),
        (None, "sync_all_columns", [Reason.NOT_ENABLED, Reason.CONSTRAINT]),
        (False, "append_new_columns", [Reason.TURNED_OFF, Reason.CONSTRAINT]),
        (True, "append_new_columns", [Reason.CONSTRAINT]),
        # Neither setting is the first to change there, and the constraint stays whatever the mode.
        (None, "fail", [Reason.CONSTRAINT]),
        (False, "fail", [Reason.CONSTRAINT]),
    ],
)
def test_settings_and_a_check_constraint_are_refused_together(setting, mode: str, expected):
    known = facts({"delta.constraints.c": "v > 0"})
    made = plan({"v": "int"}, {"v": "bigint"}, policy(mode, type_widening=setting), known)
    assert [each.reason for each in made.refusals] == expected


def test_whatever_a_table_has_against_one_change_is_told_at_once():
    known = facts(
        {"delta.constraints.c": "v is not null", "delta.enableIcebergWriterCompatV1": "true"},
        features=PREVIEW,
        generated={"v": "w", "x": "cast(v as date)"},
    )
    made = plan({"v": "date"}, {"v": "timestamp_ntz"}, known=known)
    assert details(made) == [
        (Reason.INCOMPATIBLE, "iceberg_v2"),
        (Reason.NOT_ENABLED, ""),
        (Reason.CONSTRAINT, "v is not null"),
        (Reason.INPUT_OF_GENERATED, "cast(v as date)"),
        (Reason.GENERATED, "w"),
        (Reason.PREVIEW_ONLY, ""),
        (Reason.WRITER_COMPATIBILITY, "column mapping is none, not id"),
        (Reason.WRITER_COMPATIBILITY, NO_PREVIEW),
    ]
    assert made.statements == []


# Nested text


@pytest.mark.parametrize(
    ("from_type", "to_type"),
    [
        ("varchar(5)", "varchar(10)"),
        ("varchar(5)", "string"),
        ("char(5)", "varchar(5)"),
        ("char(5)", "string"),
    ],
)
@pytest.mark.parametrize("path", [("s", "x"), ("a", "element"), ("m", "key"), ("m", "value", "x")])
def test_the_length_of_nested_text_is_never_changed(from_type: str, to_type: str, path: Path):
    assert reasons(by_hand(from_type, to_type, path=path)) == [(path, Reason.NESTED_LENGTH)]
    assert not by_hand(from_type, to_type, path=path[:1]).refusals


# Other formats


@pytest.mark.parametrize(
    ("table_format", "reason"), [("view", Reason.VIEW), ("parquet", Reason.NOT_DELTA)]
)
def test_what_is_no_delta_table_is_refused_for_that_alone(table_format: str, reason: Reason):
    known = facts({"delta.constraints.c": "v > 0"}, format=table_format)
    assert reasons(by_hand("int", "bigint", known)) == [(("v",), reason)]
