"""The texts and values that report a plan."""

import json
import shlex
from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import parse_path, path_sql
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_write_alone
from dbt.adapters.deltawiden.widening.refusals import Reason
from dbt.adapters.deltawiden.widening.report import (
    by_hand_command,
    changes_text,
    dates_text,
    lossy_text,
    other_end_text,
    perhaps_renamed_text,
    refusals_text,
    warning_texts,
)
from dbt.adapters.deltawiden.widening.schema_diff import compare
from tests.unit.schemas import MAPPED, data_type, make_plan, policy, schema, table_snapshot
from tests.unit.strategies import policies, tables_with_sources


def test_the_text_of_a_change_has_its_path_and_both_types():
    change = TypeChange(("s", "my col"), data_type("int"), data_type("bigint"))
    assert change.text == "s.`my col`: int -> bigint"


def everything() -> Plan:
    return make_plan(
        {"id": "int", "s": {"x": "float", "old": "int"}, "gone": "int"},
        {"id": "bigint", "s": {"x": "double", "a b": "int"}, "new": "date"},
        policy("sync_all_columns", type_widening=True),
        table_snapshot(MAPPED),
    )


def test_all_changes_of_a_table_are_in_one_line():
    assert changes_text(everything()) == (
        "`s`.`t`: widened id: int -> bigint, s.x: float -> double; added s.`a b`, new; "
        "dropped s.old, gone"
    )


def test_the_text_of_a_plan_without_changes_is_empty():
    assert changes_text(make_plan({"v": "int"}, {"v": "int"})) == ""


def test_the_values_of_the_changes_name_each_part_of_a_path():
    values = [change.value for change in everything().changes]
    assert values == [
        {"path": ["id"], "from": "int", "to": "bigint"},
        {"path": ["s", "x"], "from": "float", "to": "double"},
    ]
    assert json.loads(json.dumps(values)) == values


def test_refusals_with_one_cause_are_grouped():
    plan = make_plan(
        {"a": "int", "b": "int", "c": "int", "d": "boolean"},
        {"a": "double", "b": "bigint", "c": "decimal(12,2)", "d": "string"},
        snapshot=table_snapshot({}),
    )
    command = (
        """dbt run-operation widen_columns --args '{"relations": ["s.t"], """
        """"columns": {"a": "double", "c": "decimal(12,2)"}}'"""
    )
    assert refusals_text(plan).splitlines() == [
        "`s`.`t` can't take the model's output; nothing was changed or written.",
        "",
        "  a: int -> double",
        "  c: int -> decimal(12,2)",
        f"    Why: {Reason.MANUAL.meaning}.",
        f"    Do:  to widen it by hand, run: {command}",
        "",
        "  b: int -> bigint",
        "    Why: type widening is not enabled on the table.",
        "    Do:  set type_widening: true on the model, or run: dbt run-operation "
        """enable_type_widening --args '{"relations": ["s.t"]}'. Programs without type """
        "widening can then no longer read the table: see docs/readers.md",
        "",
        "  d: boolean -> string",
        f"    Why: {Reason.IMPOSSIBLE.meaning}.",
        "    Do:  cast the column in the model to boolean, or rebuild the table: "
        "dbt run --full-refresh --select NAME",
    ]


@given(tables_with_sources, policies)
def test_every_refusal_is_in_the_text(sides: tuple[StructType, StructType], model):
    plan = make_plan(*sides, model)
    text = refusals_text(plan)
    for refusal in plan.refusals:
        assert f"  {refusal.subject}\n" in text


@pytest.mark.parametrize("mode", ["append_new_columns", "sync_all_columns", "fail"])
@pytest.mark.parametrize("source", ["double", "decimal(12,2)"])
def test_a_refused_integer_to_decimal_or_double_comes_with_its_command(mode: str, source: str):
    text = refusals_text(make_plan({"amount": "int"}, {"amount": source}, policy(mode)))
    assert "dbt run-operation widen_columns --args" in text
    assert f'"amount": "{source}"' in text


def test_without_a_manual_change_there_is_no_command():
    assert by_hand_command(make_plan({"v": "bigint"}, {"v": "double"})) == ""
    assert "run-operation" not in refusals_text(make_plan({"v": "bigint"}, {"v": "double"}))


def arguments(command: str) -> dict[str, object]:
    """The arguments that dbt reads from a command that was pasted into a shell."""
    program, operation, name, option, given_arguments = shlex.split(command)
    assert (program, operation, option) == ("dbt", "run-operation", "--args")
    assert name == "widen_columns"
    return yaml.safe_load(given_arguments)


def manual(path: tuple[str, str], table: tuple[str, str]) -> Plan:
    column, field = path
    return make_plan(
        {column: {field: "int"}},
        {column: {field: "double"}},
        snapshot=table_snapshot(name=path_sql(table)),
    )


# Names without control characters, from Unicode's first plane.
typed = st.text(
    st.characters(exclude_categories=["C"], max_codepoint=0xFFFF), min_size=1, max_size=8
)


@given(st.tuples(typed, typed), st.tuples(typed, typed))
def test_the_command_names_its_columns_and_its_table_for_any_names(path, table):
    found = arguments(by_hand_command(manual(path, table)))
    (relation,) = found["relations"]
    ((column, wanted),) = found["columns"].items()
    assert parse_path(relation) == table
    assert (parse_path(column), wanted) == (path, "double")


def test_the_command_names_a_column_with_an_emoji():
    found = arguments(by_hand_command(manual(("s", "🙂"), ("a", "b"))))
    assert [parse_path(column) for column in found["columns"]] == [("s", "🙂")]


def lossy(action):
    table = schema({"a": "int", "s": {"my col": "decimal(12,2)"}, "ok": "bigint"})
    source = schema({"a": "bigint", "s": {"my col": "decimal(12,4)"}, "ok": "int"})
    return lossy_text(
        plan_write_alone(compare(source, table), source, table, "`s`.`t`", check=None), action
    )


@pytest.mark.parametrize("action", [OnLossyWrite.WARN, OnLossyWrite.ERROR])
def test_the_text_of_a_lossy_write_names_every_leaf_and_the_remedies(action):
    text = lossy(action)
    assert text.startswith("`s`.`t` does not store every value of the model's output exactly: ")
    assert "a (bigint into int), s.`my col` (decimal(12,4) into decimal(12,2))." in text
    assert "ok" not in text.split(". ")[0]
    for way_out in ("append_new_columns", "sync_all_columns", "cast in the model"):
        assert way_out in text


def test_the_text_of_a_lossy_write_does_not_suggest_the_current_setting():
    assert "on_lossy_write: error" in lossy(OnLossyWrite.WARN)
    error = lossy(OnLossyWrite.ERROR)
    assert "on_lossy_write: error" not in error
    assert "stops before the first one that would change" in error


def test_the_command_for_a_snapshot_with_dates_reads_any_name():
    text = dates_text("`my schema`.`it's`", "invalidate", ["valid to", "x.y"])
    arguments = shlex.split(text.split("widen_columns --args ")[1].split("; or set")[0])[0]
    assert yaml.safe_load(arguments) == {
        "relations": ["`my schema`.`it's`"],
        "columns": {"`valid to`": "timestamp_ntz", "`x.y`": "timestamp_ntz"},
    }


@pytest.mark.parametrize(
    ("current", "fixed"),
    [
        ("to_date('9999-12-31')", False),
        ("to_timestamp('9999-12-31 00:00:00')", False),
        ("timestamp'9999-12-31 00:00:00+00:00'", True),
        ("to_timestamp('9999-12-31T00:00:00Z')", True),
        ('timestamp"2999-12-31 00:00:00 UTC"', True),
    ],
)
def test_another_end_is_set_only_if_the_configured_one_has_no_offset(current, fixed):
    text = other_end_text("t", "`e`", current, "9999-12-30 23:00:00", "9999-12-31 00:00:00", "UTC")
    end = current if fixed else "timestamp'9999-12-31 00:00:00+00:00'"
    assert ("set dbt_valid_to_current to" in text) is not fixed
    assert (
        f"update t set `e` = {end} where `e` between timestamp'9999-12-31 00:00:00+00:00'" in text
    )


@pytest.mark.parametrize(
    ("mode", "model", "words"),
    [
        ("append_new_columns", {"id": "int", "b": "date"}, "a is kept, and null in new rows"),
        ("sync_all_columns", {"id": "int", "b": "date"}, "a is dropped, with its values"),
        ("sync_all_columns", {"id": "int", "b": "int"}, ""),
        ("sync_all_columns", {"id": "int", "b": "date", "c": "date"}, ""),
        ("append_new_columns", {"id": "int", "a": "date", "b": "date"}, ""),
        ("append_new_columns", {"id": "int"}, ""),
    ],
)
def test_a_new_column_that_can_be_the_missing_one_is_a_warning(mode, model, words):
    plan = make_plan({"id": "int", "a": "date"}, model, policy(mode), table_snapshot(MAPPED))
    text = perhaps_renamed_text(plan)
    assert words in text
    assert ("renamed_columns in the model before this run: {b: a}" in text) == bool(words)


@pytest.mark.parametrize(("action", "count"), [("error", 1), ("warn", 2), ("ignore", 1)])
def test_a_run_warns_of_columns_that_are_not_stored_and_of_losses_if_asked(action, count):
    table, source = schema({"id": "int"}), schema({"id": "bigint", "b": "date"})
    plan = plan_write_alone(compare(source, table), source, table, "t", check=None)
    texts = warning_texts(plan, OnLossyWrite(action))
    assert "b. They are not stored" in texts[0]
    assert len(texts) == count


def test_a_column_that_nothing_checks_is_named_once():
    table, source = schema({"id": "int", "region": "string"}), schema({"id": "bigint"})
    plan = plan_write_alone(compare(source, table), source, table, "t", check=None)
    texts = warning_texts(replace(plan, unchecked=("id", "region")), OnLossyWrite.WARN)
    assert len(texts) == 2
    assert "id (bigint into int)" in texts[0]
    assert texts[1].startswith("t may not store each value of these columns exactly: region. ")
