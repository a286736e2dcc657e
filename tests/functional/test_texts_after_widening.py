"""A widening changes the text of values: keys that are made of it match no row from before."""

import json
from pathlib import Path

import pytest

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.views.text_readers import text_readers
from tests.functional.operate import document
from tests.functional.support import dbt, needs_delta_4

ORDERS = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
  on_schema_change='append_new_columns', type_widening=true) }}
select cast(7 as {{ var('id', 'int') }}) as id,
  cast(date'2024-01-01' as {{ var('day', 'date') }}) as day
"""
MERGED = """
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key='key') }}}}
select {} as key from {{{{ ref('{}') }}}}
"""
MD5 = "md5(cast({} as string))"
PARTITIONED = """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='ds') }}
select 1 as n, cast(Day as string) as ds from {{ ref('orders') }}
"""
SNAPSHOT = """
{% snapshot versions %}
{{ config(unique_key='n', strategy='check', check_cols=['hashed']) }}
select 1 as n, md5(cast(day as string)) as hashed from {{ ref('orders') }}
{% endsnapshot %}
"""
WIDER = {"id": "bigint", "day": "timestamp_ntz"}
DOUBLED = {"daily", "below", "hashed", "partitioned", "versions"}

CHANGES = {
    "tinyint": ["smallint", "int", "bigint", "double", "decimal(10,0)"],
    "smallint": ["int", "bigint", "double"],
    "int": ["bigint", "double", "decimal(10,0)", "decimal(12,2)"],
    "bigint": ["decimal(20,0)"],
    "float": ["double"],
    "date": ["timestamp_ntz"],
    "decimal(5,2)": ["decimal(9,2)", "decimal(18,2)", "decimal(19,2)", "decimal(7,4)"],
    "decimal(18,2)": ["decimal(19,2)", "decimal(38,2)", "decimal(20,4)"],
    "decimal(19,2)": ["decimal(38,2)", "decimal(21,4)"],
}


def test_a_hash_is_named_if_it_is_another_number_in_spark(spark):
    """One that Spark returns again is not named."""
    for before, types in CHANGES.items():
        texts = ["2024-01-01", "1582-10-04"] if before == "date" else ["1", "-7", "120"]
        for after in types:
            narrow = [f"cast('{text}' as {before})" for text in texts]
            same = " and ".join(
                f"{function}({value}) = {function}(cast({value} as {after}))"
                for value in narrow
                for function in ("hash", "xxhash64")
            )
            node = {"name": "m", "resource_type": "model", "config": {}, "raw_code": "hash(c)"}
            change = TypeChange(("c",), parse_type(before), parse_type(after))
            is_named = bool(list(text_readers({"m": node}, [change])))
            assert is_named is not spark.sql(f"select {same}").head()[0], change.text


@needs_delta_4
class TestTextsOfAWidenedTable:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": ORDERS,
            "daily.sql": MERGED.format(MD5.format("day"), "orders"),
            "keyed.sql": f"select *, {MD5.format('day')} as md5_key from {{{{ ref('orders') }}}}",
            "below.sql": MERGED.format("md5_key", "keyed"),
            "hashed.sql": MERGED.format("xxhash64(id)", "orders"),
            "partitioned.sql": PARTITIONED,
            "by_id.sql": MERGED.format(MD5.format("id"), "orders"),
            "again.sql": "{{ config(materialized='table') }} select day from {{ ref('orders') }}",
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    def test_those_that_store_rows_twice_are_named_before_and_after(self, project, table):
        assert {result.status for result in dbt("build").results.values()} == {"success"}
        new = Path(project.project_root, "models", "new.sql")
        new.write_text(MERGED.format("day", "orders"), encoding="utf-8")
        reached = document("plan", "--vars", json.dumps(WIDER))["downstream"]
        new.unlink()
        run = dbt("build", "--warn-error", **WIDER)
        assert {result.status for result in run.results.values()} == {"success"}
        assert len(table("orders").rows()) == 1
        # This is why: dbt-spark's table would have kept its type, and the keys.
        stored = {name: len(table(name).rows()) for name in (*DOUBLED, "by_id")}
        assert stored == {**dict.fromkeys(DOUBLED, 2), "by_id": 1}
        twice = {e["name"] for e in reached if e["outcome"] == "can store rows a second time"}
        assert twice == DOUBLED
        lines = run.output.splitlines()
        assert {name for name in stored if f"  {name}" in lines} == DOUBLED
        change = "day: date -> timestamp_ntz, so the text 2024-01-01 is now 2024-01-01 00:00:00"
        assert f"    {change}" in lines
        dbt("run", "--full-refresh", "--select", "daily", "below", **WIDER)
        assert [len(table(name).rows()) for name in ("daily", "below")] == [1, 1]
