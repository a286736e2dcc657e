"""Whether OPTIMIZE runs after a model."""

import pytest

from dbt.adapters.deltawiden.config.after_run import (
    is_optimized,
    optimize_problems,
    zorder_columns,
)

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
