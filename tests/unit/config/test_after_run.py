"""Whether OPTIMIZE runs after a model."""

import pytest
from dbt_common.events.event_manager_client import add_callback_to_manager
from dbt_common.invocation import reset_invocation_id

from dbt.adapters.deltawiden.config.after_run import (
    is_optimized,
    optimize_problems,
    unread_optimize,
    zorder_columns,
)
from dbt.adapters.deltawiden.config.validation import check_configuration

TABLE = {"materialized": "table", "file_format": "delta"}


@pytest.mark.parametrize(
    ("config", "runs"),
    [
        ({}, False),
        ({"optimize": None, "zorder": [], "zorder_by": ""}, False),
        ({"optimize": "after_run"}, True),
        ({"zorder": "id"}, True),
        ({"zorder_by": ["id"]}, True),
        ({"liquid_clustered_by": "id"}, True),
        ({"liquid_clustered_by": []}, False),
        ({"liquid_clustered_by": "id", "skip_optimize": True}, False),
        ({"zorder": "id", "skip_optimize": True}, False),
        ({"zorder": "id", "skip_optimize": False}, True),
    ],
)
def test_it_runs_only_if_it_is_configured(config: dict, runs: bool):
    assert is_optimized(config, {}) is runs


@pytest.mark.parametrize(
    ("given", "runs"),
    [("true", False), (True, False), ("TRUE", False), ("false", True), ("", True)],
)
@pytest.mark.parametrize("name", ["DATABRICKS_SKIP_OPTIMIZE", "databricks_skip_optimize"])
def test_a_variable_skips_it(name: str, given: object, runs: bool):
    assert is_optimized({"optimize": "after_run"}, {name: given}) is runs


def test_the_columns_have_two_names():
    assert zorder_columns({"zorder": "id"}) == "id"
    assert zorder_columns({"zorder_by": ["id", "n"]}) == ["id", "n"]
    assert zorder_columns({}) == ""


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"zorder": "id", "zorder_by": "n"}, "leave it out, because zorder is 'id'"),
        ({"zorder_by": "id", "liquid_clustered_by": "n"}, "zorder_by: got 'id'; accepted: leave"),
        ({"zorder": "id", "file_format": "parquet"}, "zorder: got 'id'; accepted: file_format"),
    ],
)
def test_what_contradicts_itself_is_a_problem(config: dict, said: str):
    (line,) = optimize_problems({**TABLE, **config})
    assert said in line


def test_a_view_can_have_the_configuration_of_the_tables_in_its_folder():
    config = {"materialized": "view", "zorder": "id", "file_format": "parquet"}
    assert optimize_problems(config) == []


def test_a_valid_configuration_has_no_problem():
    assert optimize_problems({**TABLE, "optimize": "after_run", "zorder": "id"}) == []
    assert optimize_problems({"materialized": "table", "liquid_clustered_by": "id"}) == []


@pytest.mark.parametrize("given", [True, 1, "always", ["id"], {"by": "id"}])
def test_a_project_can_have_a_key_of_its_own_with_that_name(given: object):
    told: list[str] = []
    add_callback_to_manager(lambda event: told.append(event.info.msg))
    reset_invocation_id()
    config = {"materialized": "table", "file_format": "parquet", "optimize": given}
    for name in ("model.p.first", "model.p.second"):
        check_configuration(config, name, lambda _: False, None)
    assert not is_optimized(config, {})
    (text,) = told
    assert "model.p.first" in text
    assert f"optimize: got {given!r}; accepted: after_run. The value is ignored" in text


@pytest.mark.parametrize("given", [None, False, "", "after_run"])
def test_nothing_is_said_of_the_values_that_have_a_meaning(given: object):
    assert unread_optimize({**TABLE, "optimize": given}) is None
    assert unread_optimize({"materialized": "view", "optimize": True}) is None
