"""Two dbt processes that write to a table on S3 at the same time, each a Spark driver.

Delta's log store for S3 allows only one driver at a time:
https://docs.delta.io/latest/delta-storage.html (Amazon S3, single-cluster setup). These tests show
what dbt-deltawiden's warning, and the documentation, say of it. They fail if Delta can do more.
"""

from collections.abc import Iterator

import pytest

from tests.functional.support import Table
from tests.servers.runner import Runner, two_runners

SCHEMA = "two_drivers"
MODEL = """
{{ config(materialized='incremental', alias=var('table'),
          incremental_strategy=var('strategy'), unique_key='id',
          on_schema_change='append_new_columns', type_widening=true) }}
select {{ var('id') }} as id, cast({{ var('id') }} as {{ var('type') }}) as n
"""


@pytest.fixture(scope="module")
def drivers(spark, target, tmp_path_factory) -> Iterator[tuple[Runner, Runner]]:
    spark.sql(f"create schema if not exists {SCHEMA}")
    folder = tmp_path_factory.mktemp("drivers")
    with two_runners(folder, MODEL, {**target, "schema": SCHEMA}) as started:
        yield started


@pytest.mark.parametrize(
    ("strategy", "type"), [("append", "smallint"), ("merge", "smallint"), ("merge", "int")]
)
def test_both_runs_succeed_and_the_rows_of_one_are_lost(spark, drivers, strategy, type):
    # The server makes the commits of tables with this prefix meet.
    table = Table(spark, f"{SCHEMA}.meet_{strategy}_{type}")
    spark.sql(f"create table {table.name} using delta as select 1 as id, 1S as n")
    name = table.name.partition(".")[2]
    for id, driver in enumerate(drivers, start=2):
        driver.begin(table=name, id=id, strategy=strategy, type=type)
    answers = [driver.end() for driver in drivers]
    assert [each["status"] for each in answers] == ["success", "success"]
    rows = table.rows("id", "n")
    assert rows in ([(1, 1), (2, 2)], [(1, 1), (3, 3)])
