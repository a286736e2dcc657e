"""Renames: which are made, which are refused, and what the rest of the plan then sees."""

import pytest
from pyspark.sql.types import StructField, StructType, VarcharType

from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.describe_parser import CHAR_VARCHAR_KEY
from dbt.adapters.deltawiden.widening.planner import plan_write_alone
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.renames import PlannedRenames, plan_renames, renamed_schema
from dbt.adapters.deltawiden.widening.report import changes_text, refusals_text
from dbt.adapters.deltawiden.widening.request import find_leaf
from dbt.adapters.deltawiden.widening.schema_diff import compare
from dbt.adapters.deltawiden.widening.steps import RenameColumn
from tests.unit.schemas import ENABLED, MAPPED, checked, make_plan, policy, schema, table_snapshot

OLD = {"id": "int", "Amt": "int", "addr": {"postcode": "string"}, "items": [{"quantity": "int"}]}
NEW = {"id": "int", "amount": "int", "address": {"zip": "string"}, "items": [{"qty": "int"}]}
RENAMES = {
    ("amount",): "amt",
    ("address",): "addr",
    ("address", "zip"): "postcode",
    ("items", "element", "qty"): "quantity",
}


def planned(
    before: dict, source: dict, renames: dict, snapshot: TableSnapshot | None = None
) -> PlannedRenames:
    known = snapshot or table_snapshot({**ENABLED, **MAPPED})
    known.schema = schema(before)
    return plan_renames(renames, schema(source), known)


def reasons(found: PlannedRenames) -> list[Reason]:
    return [refusal.reason for refusal in found.refusals]


def test_each_rename_is_a_statement_and_outer_fields_come_first():
    found = planned(OLD, NEW, RENAMES)
    assert [step.statement for step in found.steps] == [
        "alter table `s`.`t` rename column `Amt` to `amount`",
        "alter table `s`.`t` rename column `addr` to `address`",
        "alter table `s`.`t` rename column `address`.`postcode` to `zip`",
        "alter table `s`.`t` rename column `items`.`element`.`quantity` to `qty`",
    ]
    assert found.snapshot.schema == schema(NEW)
    assert renamed_schema(RENAMES, schema(OLD)) == schema(NEW)


def test_the_declaration_of_a_varchar_can_be_older_than_a_rename_beside_it():
    declared = {CHAR_VARCHAR_KEY: "struct<postcode:string,city:varchar(9)>"}
    types = schema({"addr": {"zip": "string", "city": "string"}})["addr"].dataType
    table = StructType([StructField("addr", types, True, declared)])
    assert renamed_schema({("addr", "zip"): "postcode"}, table) is table
    assert find_leaf(("ADDR", "city"), table) == (("addr", "city"), VarcharType(9))


def test_renames_that_were_made_change_nothing_and_others_go_on():
    assert planned(NEW, NEW, RENAMES).steps == ()
    table = schema(NEW)
    assert renamed_schema(RENAMES, table) is table
    half = {**NEW, "address": {"postcode": "string"}}
    (step,) = planned(half, NEW, RENAMES).steps
    assert step.path == ("address", "postcode")


@pytest.mark.parametrize(
    ("table", "source", "reason"),
    [
        ({"a": "int"}, {"a": "int"}, Reason.RENAME_NOT_IN_MODEL),
        ({"a": "int"}, {"a": "int", "b": "int"}, Reason.RENAME_OLD_IN_MODEL),
        ({"a": "int", "b": "int"}, {"b": "int"}, Reason.RENAME_BOTH_IN_TABLE),
        ({"c": "int"}, {"b": "int"}, Reason.RENAME_NEITHER_IN_TABLE),
    ],
)
def test_a_rename_that_the_names_contradict_is_refused(table, source, reason):
    assert reasons(planned(table, source, {("b",): "a"})) == [reason]


def test_both_names_in_the_model_and_in_the_table_are_two_columns():
    both = {"a": "int", "b": "int"}
    found = planned(both, both, {("b",): "a"})
    assert (found.steps, found.refusals) == ((), ())


@pytest.mark.parametrize(
    ("snapshot", "expected"),
    [
        (table_snapshot({}), [Reason.RENAME_NEEDS_COLUMN_MAPPING]),
        (table_snapshot(MAPPED, format="iceberg"), []),
        (table_snapshot({}, format="parquet"), [Reason.RENAME_NEEDS_DELTA]),
        (checked("a > 0"), [Reason.RENAME_IN_CONSTRAINT]),
        (checked("aa > 0"), []),
        (
            table_snapshot(MAPPED, generation_expressions={"g": "a + 1"}),
            [Reason.RENAME_IN_GENERATED],
        ),
        # Delta renames them all.
        (table_snapshot(MAPPED, partition_columns=("a",)), []),
        (table_snapshot(MAPPED, clustering_columns=(("a",),)), []),
        (table_snapshot(MAPPED, generation_expressions={"a": "c + 1"}), []),
        (table_snapshot(MAPPED, identity=frozenset({"a"})), []),
    ],
)
def test_a_rename_that_the_table_does_not_allow_is_refused(snapshot, expected):
    assert (
        reasons(planned({"a": "int", "c": "int"}, {"b": "int"}, {("b",): "a"}, snapshot))
        == expected
    )


def test_the_rest_of_the_plan_sees_the_new_names():
    snapshot = table_snapshot(
        MAPPED,
        partition_columns=("P",),
        clustering_columns=(("s", "x"),),
        generation_expressions={"g": "1"},
        identity=frozenset({"i"}),
        defaults=frozenset({"d"}),
    )
    before = {"p": "int", "s": {"x": "int"}, "g": "int", "i": "int", "d": "int"}
    renames = {(name + "2",): name for name in before} | {("s2", "y"): "x"}
    source = {"p2": "int", "s2": {"y": "int"}, "g2": "int", "i2": "int", "d2": "int"}
    after = planned(before, source, renames, snapshot).snapshot
    assert after.partition_columns == ("p2",)
    assert after.clustering_columns == (("s2", "y"),)
    assert after.generation_expressions == {"g2": "1"}
    assert (after.identity, after.defaults) == ({"i2"}, {"d2"})


def test_a_rename_comes_after_properties_and_before_the_widening_of_the_same_column():
    found = planned({"a": "int"}, {"b": "bigint"}, {("b",): "a"}, table_snapshot(MAPPED))
    wider = make_plan({"b": "int"}, {"b": "bigint"}, policy(type_widening=True), found.snapshot)
    plan = found.added_to(wider)
    assert [type(step).__name__ for step in plan.before] == [
        "SetProperties",
        "RenameColumn",
        "AlterTypes",
    ]
    assert changes_text(plan) == "`s`.`t`: renamed a -> b; widened b: int -> bigint"


def test_a_refused_plan_names_the_columns_as_the_table_has_them():
    found = planned({"a": "int"}, {"b": "double"}, {("b",): "a"})
    refused = found.added_to(make_plan({"b": "int"}, {"b": "double"}, policy(), found.snapshot))
    assert [(refusal.path, refusal.reason) for refusal in refused.refusals] == [
        (("a",), Reason.MANUAL)
    ]
    assert '"a": "double"' in refusals_text(refused)


def test_a_rename_is_undone_if_a_later_step_fails():
    step = RenameColumn("t", ("s", "a"), "b")
    assert step.undo([step]) == (RenameColumn("t", ("s", "b"), "a"),)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ({"id": "int", "b": "string"}, Reason.MISSING_OR_RENAMED),
        ({"id": "int", "b": "date"}, Reason.MISSING_AND_MODE_IS_IGNORE),
        ({"id": "int", "b": "string", "c": "string"}, Reason.MISSING_AND_MODE_IS_IGNORE),
        ({"id": "int"}, Reason.MISSING_AND_MODE_IS_IGNORE),
    ],
)
def test_a_rename_is_never_guessed_but_the_line_for_it_is_shown(source, reason):
    table = schema({"id": "int", "a": "string"})
    plan = plan_write_alone(
        compare(schema(source), table), schema(source), table, "`s`.`t`", check=None
    )
    assert [refusal.reason for refusal in plan.refusals] == [reason]
    assert ("set renamed_columns in the model (b: a)" in refusals_text(plan)) == (
        reason is Reason.MISSING_OR_RENAMED
    )


@pytest.mark.parametrize("mode", ["fail", "sync_all_columns"])
@pytest.mark.parametrize(
    ("source", "is_shown"),
    [
        ({"id": "int", "b": "string"}, True),
        ({"id": "int", "b": "date"}, False),
        ({"id": "int", "b": "string", "c": "string"}, False),
        ({"id": "int"}, False),
    ],
)
def test_the_line_for_a_rename_is_shown_in_every_mode(mode, source, is_shown):
    plan = make_plan({"id": "int", "a": "string"}, source, policy(mode), table_snapshot())
    assert plan.refusals
    assert ("set renamed_columns in the model (b: a); if not, " in refusals_text(plan)) == is_shown


@pytest.mark.parametrize(
    ("table", "source"),
    [
        ({"s": {"x": "int"}, "a": "string"}, {"s": {"x": "int", "b": "string"}}),
        ({"s": {"x": "int", "a": "string"}}, {"s": {"x": "int"}, "b": "string"}),
    ],
)
def test_a_field_is_no_column_that_has_another_name(table, source):
    given, stored = schema(source), schema(table)
    ignored = plan_write_alone(compare(given, stored), given, stored, "t", check=None)
    for plan in (ignored, make_plan(table, source, policy("fail"), table_snapshot())):
        assert "renamed_columns" not in refusals_text(plan)
