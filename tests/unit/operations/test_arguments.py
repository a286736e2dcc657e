"""The arguments of operations."""

from datetime import timedelta
from inspect import signature

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.operations.arguments import (
    all_arguments,
    check_arguments,
    column_names,
    condition,
    file_name,
    merge_condition,
    whole_hours,
)
from dbt.adapters.deltawiden.operations.operations import Operations


def test_columns_are_one_name_or_a_list():
    assert column_names("optimize", "zorder_by", None) == ()
    assert column_names("optimize", "zorder_by", "id") == ("id",)
    assert column_names("optimize", "zorder_by", ["id", "a b"]) == ("id", "a b")


@pytest.mark.parametrize("given", [[], "", " ", 3, ["id", 3], ["id", ""], {"id": 1}, True])
def test_anything_else_is_an_error(given: object):
    with pytest.raises(CompilationError, match=r"optimize: zorder_by: got .*; accepted: a column"):
        column_names("optimize", "zorder_by", given)


def test_a_condition_is_a_text_that_is_not_empty():
    assert condition("optimize", "where", None) is None
    assert condition("optimize", "where", "day = 1") == "day = 1"
    for given in ("", " ", 1, ["a"]):
        with pytest.raises(CompilationError, match=r"optimize: where: got .*; accepted: a cond"):
            condition("optimize", "where", given)


@pytest.mark.parametrize("text", ["", "id < 5", "n = 'it\\'s (select 1)'", "`(select` > 1"])
def test_the_condition_of_a_merge_has_no_subquery(text: str):
    assert merge_condition("restore_values", "where", text or None) == text
    for given in ("id in (select 1)", "day > (\n  WITH a as (select 1) select * from a)"):
        with pytest.raises(CompilationError, match="accepted: a condition without a subquery"):
            merge_condition("restore_values", "where", given)


def test_hours_are_a_whole_number():
    assert whole_hours("vacuum", "retention_hours", None) is None
    assert whole_hours("vacuum", "retention_hours", 0) == 0
    for given in (-1, 0.5, "24", True, [1]):
        with pytest.raises(CompilationError, match=r"vacuum: retention_hours: got .*; accepted"):
            whole_hours("vacuum", "retention_hours", given)


def test_hours_are_not_more_than_python_can_count():
    most = timedelta.max // timedelta(hours=1)
    assert whole_hours("vacuum", "retention_hours", most) == most
    for given in (most + 1, 10**30):
        said = rf"retention_hours: got {given}; accepted: .*, 0 or more, up to {most}$"
        with pytest.raises(CompilationError, match=said):
            whole_hours("vacuum", "retention_hours", given)


def test_a_file_is_a_text_that_is_not_empty():
    assert file_name("plan", "file", None) is None
    assert file_name("plan", "file", "a/b.html") == "a/b.html"
    with pytest.raises(CompilationError, match=r"plan: file: got .*; accepted: the path"):
        file_name("plan", "file", 3)


PLAN = {"models": None, "compiled": False, "apply": False, "output": "text", "file": None}


def test_an_argument_that_is_not_given_has_its_default():
    assert all_arguments("plan", {}, signature(Operations.plan)) == PLAN
    given = {"models": "orders", "apply": True}
    assert all_arguments("plan", given, signature(Operations.plan)) == {**PLAN, **given}


def test_a_misspelt_argument_is_an_error_that_lists_the_accepted_ones():
    accepted = "models, relations, schema, retention_hours, force, dry_run, output"
    said = f"vacuum: there is no argument dryrun, file; accepted: {accepted}$"
    with pytest.raises(CompilationError, match=said):
        all_arguments("vacuum", {"dryrun": True, "file": "a"}, signature(Operations.vacuum))


@pytest.mark.parametrize("models", [None, "orders", ["orders", "fares"], []])
def test_models_are_a_name_or_a_list(models: object):
    check_arguments("plan", {**PLAN, "models": models}, signature(Operations.plan))


@pytest.mark.parametrize("argument", ["models", "relations", "schema", "against"])
@pytest.mark.parametrize("given", [2024, 1.5, True, {"a": 1}, [7]])
def test_a_name_that_is_no_text_is_an_error(argument: str, given: object):
    arguments = {**PLAN, argument: given}
    # A list has no quotes.
    is_list = given == [7] and argument in ("schema", "against")
    hint = "accepted: a name$" if is_list else "in quotes: '2024'"
    with pytest.raises(CompilationError, match=rf"plan: {argument}: got .*{hint}"):
        check_arguments("plan", arguments, signature(Operations.plan))


def test_a_file_without_a_page_is_an_error():
    declared = signature(Operations.plan)
    check_arguments("plan", {**PLAN, "output": "html", "file": "a.html"}, declared)
    with pytest.raises(CompilationError, match="plan: `file` is for output: html; got text"):
        check_arguments("plan", {**PLAN, "file": "a.html"}, declared)
