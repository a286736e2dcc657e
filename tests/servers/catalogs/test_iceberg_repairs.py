"""Iceberg tables: renames, and old rows that get the values of their model."""

from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from tests.functional.operate import document, operate
from tests.functional.support import dbt

ICEBERG = "materialized='incremental', file_format='iceberg', catalog='lake', unique_key='id'"
MODELS = {
    "renamed.sql": f"""
{{{{ config({ICEBERG}, incremental_strategy='merge', on_schema_change='append_new_columns',
  renamed_columns=var('renamed', {{}})) }}}}
select {{{{ var('id', 1) }}}} as id,
  cast({{{{ var('n', 1) }}}} as {{{{ var('type', 'int') }}}}) as {{{{ var('amount', 'amt') }}}},
  named_struct('{{{{ var("zip", "postcode") }}}}', 'x') as address
""",
    "restored.sql": f"""
{{{{ config({ICEBERG}, incremental_strategy='merge', on_schema_change='append_new_columns') }}}}
select id, cast(id + 0.2367 as decimal(12,4)) as amount, id + 0.1D as ratio,
  if(id = 2, 'new', 'a') as note from range(1, 5)
""",
    "grown.sql": f"""
{{{{ config({ICEBERG}, incremental_strategy='merge') }}}}
{{% if is_incremental() %}} this is not a query {{% endif %}}
select id, id * 2 as score, array(cast(id as int)) as items from range(1, 5)
""",
}


class TestRepairs:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class", autouse=True)
    def _namespace(self, project, spark: SparkSession) -> None:
        spark.sql(f"create namespace if not exists lake.{project.test_schema}")

    def test_columns_are_renamed_and_widened_in_one_run(self, lake):
        assert dbt("run", "--select", "renamed").status("renamed") == "success"
        renamed = {"amount": "amt", "address.zip": "postcode"}
        wider = {"id": 2, "n": 9000000000, "type": "bigint", "amount": "amount", "zip": "zip"}
        run = dbt("run", "--select", "renamed", renamed=renamed, **wider)
        assert run.status("renamed") == "success", run.output
        table = lake("renamed")
        assert table.types == {"id": "int", "amount": "bigint", "address": "struct<zip:string>"}
        assert table.rows("id", "amount", "address.zip") == [(1, 1, "x"), (2, 9000000000, "x")]
        again = dbt("run", "--select", "renamed", renamed=renamed, **wider)
        assert again.status("renamed") == "success", again.output
        assert len(lake("renamed").rows()) == 2

    def test_values_that_a_cast_has_changed_are_restored(self, lake, project, spark: SparkSession):
        name = f"lake.{project.test_schema}.restored"
        spark.sql(
            f"create table {name} (id bigint, amount decimal(12,4), ratio float, note string) "
            "using iceberg"
        )
        spark.sql(
            f"insert into {name} select id, cast(id + 0.2367 as decimal(12,4)), "
            "cast(id + 0.1 as float), 'a' from range(1, 4) union all select 9, 9.5, 0.5, 'z'"
        )
        before = lake("restored").rows()
        assert "restore_values --args" in operate("audit_lossy_writes", models=["restored"])
        assert "dry run" in operate("restore_values", models=["restored"], dry_run=True)
        assert lake("restored").rows() == before
        (done,) = document("restore_values", models=["restored"])["tables"]
        assert "error" not in done, done
        assert done["rows"]["to_change"] == 2
        # The second row differs for another reason, and the model has no row 9.
        assert lake("restored").rows("id", "amount", "ratio", "note") == [
            (1, Decimal("1.2367"), 1.1, "a"),
            (2, before[1][1], before[1][2], "a"),
            (3, Decimal("3.2367"), 3.1, "a"),
            (9, Decimal("9.5"), 0.5, "z"),
        ]
        (again,) = document("restore_values", models=["restored"])["tables"]
        assert again["state"] == "nothing_to_do"

    def test_a_column_gets_the_values_of_the_full_query(self, lake, project, spark: SparkSession):
        name = f"lake.{project.test_schema}.grown"
        spark.sql(f"create table {name} (id bigint, score bigint, items array<int>) using iceberg")
        spark.sql(f"insert into {name} values (1, null, null), (2, 4, array(2)), (9, null, null)")
        arguments = {"models": ["grown"], "columns": ["score", "items"]}
        (dry,) = document("backfill_columns", **arguments, dry_run=True)["tables"]
        assert (dry["rows"]["to_change"], dry["rows"]["only_stored"]) == (1, 1)
        document("backfill_columns", **arguments)
        assert lake("grown").rows() == [(1, 2, [1]), (2, 4, [2]), (9, None, None)]
