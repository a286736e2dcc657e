"""A dbt process that is killed between two commits on S3, and the run after it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.support import Table
from tests.servers.object_storage import ObjectStorage
from tests.servers.runner import Runner

SCHEMA = "killed"
# The table property, the widened column, the new column, and the rows.
MODEL = """
{{ config(materialized='incremental', alias=var('table'), incremental_strategy='append',
          on_schema_change='append_new_columns', type_widening=true) }}
select id, cast(id as bigint) * 3000000000 as n, 'new' as c from values (1), (2), (3) as v(id)
{% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}
"""
COMMITS = 4


@pytest.fixture(scope="module")
def survivor(spark, target, tmp_path_factory) -> Iterator[Runner]:
    """The process that runs the model again."""
    spark.sql(f"create schema if not exists {SCHEMA}")
    runner = Runner(tmp_path_factory.mktemp("survivor"), MODEL, {**target, "schema": SCHEMA})
    yield runner
    runner.stop()


@pytest.mark.parametrize("last", range(1, COMMITS + 1))
def test_the_next_run_has_the_result_of_one_run(
    spark, target, storage, survivor, tmp_path: Path, last: int
):
    table = Table(spark, f"{SCHEMA}.after_{last}")
    spark.sql(f"create table {table.name} using delta as select 1 as id, 1S as n")
    (detail,) = table.spark.sql(f"describe detail {table.name}").collect()
    variables = {"table": table.name.partition(".")[2]}

    victim = Runner(tmp_path / "victim", MODEL, {**target, "schema": SCHEMA})
    victim.begin(**variables)
    wait_for_commit(storage, detail.location, last)
    victim.kill()

    assert survivor.run(**variables)["status"] == "success"
    assert table.types == {"id": "int", "n": "bigint", "c": "string"}
    assert table.rows("id", "n", "c") == [
        (1, 1, None), (2, 6_000_000_000, "new"), (3, 9_000_000_000, "new"),
    ]  # fmt: skip


def wait_for_commit(storage: ObjectStorage, location: str, version: int) -> None:
    commit = f"_delta_log/{version:020}.json"
    end = time.monotonic() + 120
    while not any(key.endswith(commit) for key in storage.keys(location)):
        assert time.monotonic() < end, f"no commit {version}"
        time.sleep(0.02)
