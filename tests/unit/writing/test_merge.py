"""The text of a MERGE, with the clauses that a model configures."""

from dbt.adapters.deltawiden.config.merge_clauses import MergeClauses
from dbt.adapters.deltawiden.writing.columns import match_columns
from dbt.adapters.deltawiden.writing.merge import merge_conditions, merge_sql
from tests.unit.schemas import schema

CLAUSES = MergeClauses("t", "s")
ON = ["s.`id` = t.`id`"]
TABLE = schema({"id": "int", "n": "int", "gone": "int"})
COLUMNS = match_columns(schema({"id": "int", "n": "int"}), TABLE, check=None).columns


def merge(clauses=CLAUSES, columns=None, updated=None) -> list[str]:
    return merge_sql("`d`.`t`", "v", ON, clauses, columns, updated).splitlines()


def test_it_writes_all_columns_by_a_star():
    assert merge() == [
        "merge into `d`.`t` as t",
        "using v as s",
        "on s.`id` = t.`id`",
        "when matched then update set *",
        "when not matched then insert *",
    ]


def test_a_column_that_the_source_lacks_keeps_its_value_or_is_null():
    assert merge(columns=COLUMNS)[3:] == [
        "when matched then update set `id` = s.`id`, `n` = s.`n`",
        "when not matched then insert (`id`, `n`, `gone`) values (s.`id`, s.`n`, null)",
    ]


def test_only_the_configured_columns_are_updated_and_a_path_is_a_field():
    updated = merge(columns=COLUMNS, updated=["`n`", "`s`.`x`"])[3]
    assert updated == "when matched then update set `n` = s.`n`, `s`.`x` = s.`s`.`x`"


def test_a_condition_may_end_with_a_comment():
    clauses = MergeClauses(
        "t", "s", matched_condition="s.n > t.n -- newer", not_matched_condition="s.n > 0"
    )
    assert merge(clauses)[3:] == [
        "when matched and (s.n > t.n -- newer",
        ") then update set *",
        "when not matched and (s.n > 0",
        ") then insert *",
    ]


def test_steps_are_skipped_and_rows_that_the_model_lacks_have_their_own():
    clauses = MergeClauses(
        skip_matched_step=True,
        skip_not_matched_step=True,
        not_matched_by_source_action="delete",
        not_matched_by_source_condition="n < 0",
    )
    assert merge(clauses)[3:] == ["when not matched by source and (n < 0", ") then delete"]


def test_rows_match_by_the_keys_and_the_predicates():
    conditions = merge_conditions(["id", "my col", "s.x"], ["t.n > 1"], CLAUSES)
    assert conditions == [
        "(t.n > 1\n)",
        "s.id = t.id",
        "s.`my col` = t.`my col`",
        "s.s.x = t.s.x",
    ]


def test_without_a_key_no_row_matches():
    assert merge_conditions([], [], CLAUSES) == ["FALSE"]
    assert merge_conditions([], ["t.n > 1"], CLAUSES) == ["(t.n > 1\n)", "FALSE"]


def test_a_macro_can_compare_the_keys():
    found = merge_conditions(["id"], [], CLAUSES, lambda *names: " <=> ".join(names))
    assert found == ["s.id <=> t.id"]


def test_generated_columns_that_an_update_does_not_compute_are_set_to_themselves():
    merged = merge_sql("t", "v", ON, CLAUSES, COLUMNS, ["`n`"], ["the day"]).splitlines()
    assert merged[3] == "when matched then update set `n` = s.`n`, `the day` = t.`the day`"
    assert "the day" not in merged[4]
