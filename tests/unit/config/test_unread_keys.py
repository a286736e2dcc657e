"""Values of a configuration that are not read, which a hook of the project can read."""

import pytest
from dbt_common.events.event_manager_client import add_callback_to_manager
from dbt_common.invocation import reset_invocation_id

from dbt.adapters.deltawiden.config.after_run import is_optimized
from dbt.adapters.deltawiden.config.unread_keys import unread_values
from dbt.adapters.deltawiden.config.validation import check_configuration

TABLE = {"materialized": "table", "file_format": "delta"}
HEADER = "set spark.sql.session.timeZone = UTC;"


def unread(config: dict, own: str | None = None) -> list[str]:
    return [key for key, _, _ in unread_values(config, lambda name: name == own)]


@pytest.mark.parametrize("given", [True, 1, "always", ["id"], {"by": "id"}])
def test_a_project_can_have_an_optimize_of_its_own(given: object):
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
    assert unread({**TABLE, "optimize": given}) == []
    assert unread({"materialized": "view", "optimize": True}) == []


@pytest.mark.parametrize("materialized", ["table", "view", "incremental", "snapshot"])
def test_a_header_is_not_run(materialized: str):
    config = {"materialized": materialized, "sql_header": f"\n  {HEADER}\n"}
    ((key, text, do),) = unread_values(config, lambda _: False)
    assert (key, text) == ("sql_header", f"sql_header: '{HEADER}' is not run, as with dbt-spark")
    assert "pre_hook" in do


def told_of(config: dict, columns: dict, *names: str) -> list[str]:
    told: list[str] = []
    add_callback_to_manager(lambda event: told.append(event.info.msg))
    reset_invocation_id()
    for name in names:
        check_configuration(config, name, lambda _: False, columns)
    return told


@pytest.mark.parametrize("materialized", ["table", "incremental", "snapshot", "seed"])
def test_what_protects_data_on_databricks_is_a_warning(materialized: str):
    config = {"materialized": materialized, "row_filter": {"function": "f", "columns": ["region"]}}
    columns = {"email": {"name": "email", "column_mask": {"function": "g"}}, "id": {"name": "id"}}
    rows, values = told_of(config, columns, "model.p.first", "model.p.second")
    assert "model.p.first" in rows
    assert "row_filter has no effect" in rows
    assert "every reader of the table sees all rows" in rows
    assert "column_mask has no effect" in values
    assert "sees the values of the column" in values


@pytest.mark.parametrize("mask", [None, {}, ""])
def test_nothing_is_said_without_a_mask_or_a_filter(mask: object):
    columns = {"email": {"name": "email", "column_mask": mask}}
    assert told_of({**TABLE, "row_filter": mask}, columns, "model.p.m") == []
    assert told_of({"materialized": "view", "row_filter": {"function": "f"}}, {}, "model.p.m") == []


@pytest.mark.parametrize("header", [None, "", " \n", "-- for BigQuery", "/* none\n */ ;\n-- x\n"])
def test_a_header_may_be_empty(header: str | None):
    assert unread({**TABLE, "sql_header": header}) == []


@pytest.mark.parametrize("materialized", ["seed", "ephemeral", "test", "unit", "by_period"])
def test_a_header_is_left_to_other_materializations(materialized: str):
    assert unread({"materialized": materialized, "sql_header": HEADER}) == []


@pytest.mark.parametrize("own", ["materialization_table_spark", "create_table_as", "get_merge_sql"])
def test_a_header_is_left_to_a_macro_of_the_project(own: str):
    assert unread({**TABLE, "sql_header": HEADER}, own) == []


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ({"table_format": "Iceberg"}, ["table_format"]),
        ({"table_format": "default"}, []),
        ({"table_format": "iceberg", "file_format": "iceberg"}, []),
        ({"table_format": "iceberg", "materialized": "view"}, []),
        (
            {"materialized": "incremental", "incremental_apply_config_changes": False},
            ["incremental_apply_config_changes"],
        ),
        ({"materialized": "incremental", "incremental_apply_config_changes": True}, []),
        ({"materialized": "incremental"}, []),
        ({"incremental_apply_config_changes": False}, []),
    ],
)
def test_keys_of_dbt_databricks_without_effect(config: dict, keys: list[str]):
    assert unread({**TABLE, **config}) == keys
