"""The statement before a model's own one, which dbt-spark leaves out."""

import pytest

from dbt.adapters.deltawiden.config.validation import configuration_problems

HEADER = "set spark.sql.session.timeZone = UTC;"


@pytest.mark.parametrize("materialized", ["table", "view", "incremental", "snapshot"])
def test_is_refused(materialized: str):
    config = {"materialized": materialized, "sql_header": f"\n  {HEADER}\n"}
    (found,) = configuration_problems(config, lambda _: False)
    assert found.startswith(f"sql_header: got '{HEADER}'; accepted: nothing.")
    assert "pre_hook" in found


@pytest.mark.parametrize("header", [None, "", " \n", "-- for BigQuery", "/* none\n */ ;\n-- x\n"])
def test_may_be_empty(header: str | None):
    config = {"materialized": "table", "sql_header": header}
    assert configuration_problems(config, lambda _: False) == []


@pytest.mark.parametrize("materialized", ["seed", "ephemeral", "test", "unit", "by_period"])
def test_is_left_to_other_materializations(materialized: str):
    config = {"materialized": materialized, "sql_header": HEADER}
    assert configuration_problems(config, lambda _: False) == []


def test_is_left_to_a_materialization_of_the_project():
    config = {"materialized": "table", "sql_header": HEADER}
    assert configuration_problems(config, lambda name: name == "materialization_table_spark") == []
