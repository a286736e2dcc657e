"""The configuration that an incremental strategy needs, and the one that it excludes."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.deltawiden.config.merge_clauses import MergeClauses, read_merge_clauses
from dbt.adapters.deltawiden.config.project_macros import NodeMacros
from dbt.adapters.deltawiden.config.strategies import is_own_strategy, strategy_problems
from dbt.adapters.deltawiden.config.validation import check_configuration

MERGE = {"materialized": "incremental", "incremental_strategy": "merge", "unique_key": "id"}
MICROBATCH = {"materialized": "incremental", "incremental_strategy": "microbatch"}
REPLACE = {"materialized": "incremental", "incremental_strategy": "replace_where"}
DELETE_INSERT = {"materialized": "incremental", "incremental_strategy": "delete+insert"}
BATCHES = {"materialized": "incremental", "incremental_strategy": "microbatch", "event_time": "at"}


@pytest.mark.parametrize(
    "config",
    [
        MERGE,
        {**MERGE, "matched_condition": "t.a < s.a", "target_alias": "t", "source_alias": "s"},
        {**MERGE, "skip_matched_step": "true"},
        {**MERGE, "merge_with_schema_evolution": False},
        {
            **MERGE,
            "skip_matched_step": True,
            "skip_not_matched_step": True,
            "not_matched_by_source_action": "delete",
        },
        {**REPLACE, "incremental_predicates": "id > 3"},
        {**REPLACE, "predicates": ["id > 3"]},
        {**DELETE_INSERT, "unique_key": ["a", "b"]},
        # At a folder of models, a configuration applies to tables and views, too.
        {"materialized": "table", "matched_condition": "true"},
        {**MERGE, "file_format": "Iceberg"},
        # Its table can be a Delta table all the same.
        {**MICROBATCH, "file_format": "parquet"},
    ],
)
def test_a_configuration_that_the_strategy_can_follow_has_no_problem(config: dict[str, object]):
    assert strategy_problems(config, lambda _: False) == []


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (
            {**MERGE, "merge_with_schema_evolution": True},
            "merge_with_schema_evolution: not supported",
        ),
        (
            {**MERGE, "incremental_strategy": "append", "matched_condition": "true"},
            "matched_condition: for incremental_strategy: merge only; got 'append'",
        ),
        (
            {**MERGE, "target_alias": "T", "source_alias": "t"},
            "target_alias, source_alias: both are 'T'",
        ),
        ({**MERGE, "target_alias": "dbt_internal_source"}, "target_alias, source_alias: both are"),
        (
            {**MERGE, "not_matched_by_source_condition": "true"},
            "there is no not_matched_by_source_action",
        ),
        (
            {**MERGE, "unique_key": None, "not_matched_by_source_action": "delete"},
            "without a unique_key",
        ),
        (
            {**MERGE, "skip_matched_step": True, "skip_not_matched_step": True},
            "the MERGE does nothing",
        ),
        (REPLACE, "incremental_predicates: replace_where needs"),
        ({**REPLACE, "predicates": "a", "file_format": "parquet"}, "got file_format 'parquet'"),
        (DELETE_INSERT, "unique_key: delete+insert needs"),
        (
            {**BATCHES, "file_format": "iceberg", "predicates": ["tenant = 1"]},
            "incremental_predicates: Iceberg replaces whole files",
        ),
        ({**MERGE, "incremental_strategy": "Merge"}, "incremental strategy provided: Merge"),
        ({**MERGE, "file_format": "parquet"}, "choose this strategy when file_format is set to"),
        ({**MERGE, "file_format": "avro"}, "Invalid file format provided: avro"),
        ({"materialized": "incremental", "file_format": "avro"}, "file format provided: avro"),
        (
            {**MERGE, "merge_update_columns": "a", "merge_exclude_columns": ["b"]},
            "merge_update_columns, merge_exclude_columns: Model cannot specify",
        ),
    ],
)
def test_a_configuration_that_the_strategy_can_not_follow_is_named(
    config: dict[str, object], problem: str
):
    (line,) = strategy_problems(config, lambda _: False)
    assert problem in line


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("target_alias", "a b"),
        ("source_alias", "a.b"),
        ("skip_matched_step", "yes"),
        ("matched_condition", 1),
        ("not_matched_by_source_action", "insert"),
        ("not_matched_by_source_action", "update set"),
    ],
)
def test_a_value_that_is_not_accepted_is_named_with_the_key_and_what_is(key: str, value: object):
    with pytest.raises(DbtConfigError) as error:
        check_configuration({**MERGE, key: value}, "model.p.m", lambda _: False, None)
    assert f"{key}: got {value!r}; accepted: " in str(error.value)
    assert "model.p.m" in str(error.value)


def test_the_clauses_are_read_as_they_are_written():
    config = {
        **MERGE,
        "skip_not_matched_step": "True",
        "not_matched_by_source_action": "\n UPDATE  SET t.a = 'x', t.b = 1\n",
        "not_matched_by_source_condition": " t.a > 1 ",
    }
    clauses = read_merge_clauses(config)
    assert clauses.skip_not_matched_step
    assert not clauses.writes_every_row
    assert clauses.assignments == "t.a = 'x', t.b = 1"
    assert clauses.not_matched_by_source_condition == "t.a > 1"
    assert clauses.target_alias == "DBT_INTERNAL_DEST"
    assert clauses.source_alias == "DBT_INTERNAL_SOURCE"


def test_without_configuration_a_merge_writes_every_row():
    assert read_merge_clauses({}) == MergeClauses()
    assert MergeClauses().writes_every_row


OWN = {**MERGE, "incremental_strategy": "own", "matched_condition": "true"}


@pytest.mark.parametrize(
    "config", [REPLACE, DELETE_INSERT, OWN, {**MICROBATCH, "file_format": "avro"}]
)
def test_a_macro_of_the_project_says_itself_what_it_needs(config: dict[str, object]):
    assert strategy_problems(config, lambda _: False)
    assert strategy_problems(config, lambda name: True) == []
    assert strategy_problems(config, lambda name: name == "get_merge_sql")


def own(manifest: object) -> Callable[[str], bool]:
    """Return what finds the macros of a node of the project."""
    config = SimpleNamespace(project_name="shop", get_macro_search_order=lambda _: None)
    return NodeMacros(manifest, config, "shop").writes_with_own


@pytest.mark.parametrize(
    ("package", "is_own"),
    [("shop", True), ("a_package", False), ("dbt", False), ("dbt_spark", False)],
)
def test_only_a_macro_of_the_project_is_its_own(package: str, is_own: bool):
    class Macros:
        def find_macro_by_name(self, name: str, project: str, within: str) -> object:
            assert project == "shop"
            is_asked = (name, within) == ("get_incremental_delete_insert_sql", package)
            return SimpleNamespace(package_name=package) if is_asked else None

    assert is_own_strategy(own(Macros()), "delete+insert") is is_own
    assert not is_own_strategy(own(None), "delete+insert")


@pytest.mark.parametrize(("package", "is_own"), [("shop", True), ("dbt_deltawiden", False)])
def test_a_materialization_from_outside_dbt_can_have_any_strategy(package: str, is_own: bool):
    class Macros:
        def find_macro_by_name(self, *_: object) -> None:
            return None

        def find_materialization_macro_by_name(self, project: str, *names: str) -> object:
            assert (project, names[0]) == ("shop", "incremental")
            assert names[1] in ("deltawiden", "spark")
            return SimpleNamespace(package_name=package)

    assert is_own_strategy(own(Macros()), "any") is is_own


def macros_of(name: str) -> type:
    """The macros of dbt, with one of the project's own."""

    class Macros:
        def find_macro_by_name(self, asked: str, project: str, within: str) -> object:
            names = ["get_incremental_microbatch_sql", "get_merge_sql", "get_merge_update_columns"]
            found = {"shop": [name], "dbt": names}.get(within, [])
            return SimpleNamespace(package_name=within) if asked in found else None

    return Macros


@pytest.mark.parametrize(
    ("name", "strategy", "is_own"),
    [
        ("spark__get_incremental_microbatch_sql", "microbatch", True),
        ("deltawiden__get_incremental_microbatch_sql", "microbatch", True),
        # dbt has no macro of this name, which dispatch would need.
        ("spark__get_incremental_upsert_sql", "upsert", False),
    ],
)
def test_a_macro_that_dispatch_finds_is_the_projects_own(name: str, strategy: str, is_own: bool):
    assert is_own_strategy(own(macros_of(name)()), strategy) is is_own


@pytest.mark.parametrize("name", ["get_merge_sql", "spark__get_merge_update_columns", "other"])
def test_a_merge_is_the_projects_own_by_its_own_macros(name: str):
    Macros = macros_of(name)

    assert is_own_strategy(own(Macros()), "merge") is (name != "other")
    assert not is_own_strategy(own(None), "merge")
