"""The checks of a contract, in the SELECT around the query of a model."""

from typing import Any

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.writing.contract_checks import added_checks, contract_columns


def model(*names: str, of_column: Any = (), of_model: Any = ()) -> dict[str, Any]:
    """A model with a constraint on its last column, and one of its own."""
    columns = {name: {"name": name, "constraints": []} for name in names}
    columns[names[-1]]["constraints"] = list(of_column)
    return {"columns": columns, "constraints": list(of_model)}


def test_columns_without_constraints_are_selected_as_they_are():
    columns = model("id", "Big One", "`n m`")
    columns["columns"]["id"]["quote"] = True
    assert contract_columns(columns, None) == "`id`, `Big One`, `n m`"


def test_a_broken_constraint_of_a_column_is_an_error_of_its_value():
    constraints = [{"type": "not_null"}, {"type": "check", "expression": "n > 0", "name": "pos"}]
    id_sql, n_sql = contract_columns(model("id", "n", of_column=constraints), None).split(", ", 1)
    assert id_sql == "id"
    assert n_sql.split("\n") == [
        "",
        "case",
        "when (n is not null) is not true then raise_error("
        "'the model has a null in n, which is not_null in its contract')",
        "when (n > 0) is not true then raise_error("
        "'the model has a row that breaks the check pos of its contract: n > 0')",
        "else n end as n",
    ]


@pytest.mark.parametrize(
    ("key", "checking"), [(None, "a"), ("b", "b"), (["c", "`B`"], "b"), ("missing", "a"), ([], "a")]
)
def test_the_key_has_the_conditions_of_the_model(key: Any, checking: str):
    constraints = [
        {"type": "check", "expression": "a < b"},
        {"type": "not_null", "columns": ["a", "d e"]},
        {"type": "primary_key", "columns": ["a"]},
    ]
    columns = contract_columns(model("a", "b", of_model=constraints), key)
    assert [name for name in ("a", "b") if f"end as {name}" in columns] == [checking]
    assert "when (a < b) is not true" in columns
    assert "when (`d e` is not null) is not true" in columns
    assert columns.count("raise_error") == 3


@pytest.mark.parametrize("expression", [{}, {"expression": None}, {"expression": " "}])
def test_a_check_without_a_condition_is_an_error_that_says_what_to_do(expression: dict[str, Any]):
    check = {"type": "check", **expression}
    with pytest.raises(CompilationError, match=r"for column n that .* without expression\. Set"):
        contract_columns(model("id", "n", of_column=[check]), None)
    with pytest.raises(CompilationError, match=r"for the model that .* without expression\. Set"):
        contract_columns(model("id", "n", of_model=[check]), None)


def test_a_not_null_of_the_model_without_columns_is_an_error():
    not_null = {"type": "not_null", "columns": []}
    with pytest.raises(CompilationError, match=r"type: not_null without columns\. Set columns to"):
        contract_columns(model("id", of_model=[not_null]), None)


def test_a_table_gets_each_check_once():
    checks = [{"type": "check", "expression": text} for text in ("n > 0", "n > 0", "n < 9")]
    named = [{"type": "check", "expression": "n > 1", "name": name} for name in ("Big", "BIG")]
    others = [{"type": "primary_key"}, {"type": "not_null", "columns": ["n"]}]
    names = added_checks([*checks, *named, *others])
    assert sorted(names.values()) == ["n < 9", "n > 0", "n > 1"]
    assert names["Big"] == "n > 1"


def test_two_checks_of_one_name_are_an_error():
    checks = [
        {"type": "check", "expression": f"n > {n}", "name": name} for n, name in enumerate("aA")
    ]
    with pytest.raises(CompilationError, match="two checks with the name A: n > 0, and n > 1"):
        added_checks(checks)
