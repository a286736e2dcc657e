"""A filter finds the rows from before a widening, though Spark's own settings miss some of them."""

import pytest
from pyspark.sql import SparkSession

from tests.functional.operate import document
from tests.functional.plain_spark import DEFAULTS
from tests.functional.support import dbt, needs_delta_4
from tests.small import settings_of

# As an unscaled number of 32 bits, which the old files have, it is -1,294,967,296.
BEYOND = "30000000.00"
AMOUNTS = """
{{{{ config(materialized='incremental', type_widening=true, on_schema_change='append_new_columns',
  rewrite_widened_files=false, {config}) }}}}
{{% if is_incremental() %}}
select id, cast(amount as decimal(12,2)) as amount from values
  ({{{{ 6 if model.name == 'source' else 1 }}}}, 1.5), (5, 5.55)
{{% else %}}
select id, cast(amount as decimal(8,2)) as amount from values (1, 1.25), (2, 2), (3, 3), (4, -4)
{{% endif %}} as v(id, amount)
"""
CONFIGS = {
    "replaced": f"incremental_strategy='replace_where', incremental_predicates='amount < {BEYOND}'",
    "deleted": "incremental_strategy='delete+insert', unique_key='id', "
    f"incremental_predicates='DBT_INTERNAL_DEST.amount < {BEYOND}'",
    "merged": "incremental_strategy='merge', unique_key='id', "
    f"incremental_predicates='DBT_INTERNAL_DEST.amount < {BEYOND}'",
    "source": "incremental_strategy='append'",
}
SNAPSHOT = f"""
{{% snapshot kept %}}
{{{{ config(target_schema=target.schema, unique_key='id', strategy='check', check_cols=['amount'],
  hard_deletes='invalidate', type_widening=true) }}}}
select * from {{{{ ref('source') }}}} where amount <= {BEYOND}
{{% endsnapshot %}}
"""
ANALYSED = f"""
{{{{ config(materialized='incremental', unique_key='id') }}}}
select * from {{{{ ref('source') }}}} where amount between -1 and {BEYOND}
"""
NUMBERS = """
{{ config(materialized='incremental', incremental_strategy='append', type_widening=true,
  on_schema_change='append_new_columns', rewrite_widened_files=false) }}
{% if is_incremental() %} select 2 as id, struct(5000000000L as n) as s
{% else %} select 1 as id, struct(1 as n) as s {% endif %}
"""
NOT_LISTED = """
{{ config(materialized='table') }}
select * from {{ ref('numbers') }} where s.n not in (7, 4294967297)
"""


def amounts(spark: SparkSession, name: str) -> list[tuple[int, float]]:
    rows = spark.sql(f"select id, amount from {name}").collect()
    return sorted((row.id, float(row.amount)) for row in rows)


@needs_delta_4
class TestFilters:
    @pytest.fixture(scope="class")
    def models(self):
        amounts = {f"{name}.sql": AMOUNTS.format(config=text) for name, text in CONFIGS.items()}
        others = {"analysed.sql": ANALYSED, "numbers.sql": NUMBERS, "not_listed.sql": NOT_LISTED}
        return {**amounts, **others}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"kept.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def tests(self):
        query = f"select * from {{{{ ref('source') }}}} where amount < {BEYOND}"
        return {"none_is_small.sql": f"{{{{ config(severity='warn') }}}} {query}"}

    def test_every_statement_of_a_run_finds_the_old_rows(self, project, spark: SparkSession):
        dbt("build", "--exclude", "analysed")
        with settings_of(spark, DEFAULTS):
            second = dbt("build")
        assert {str(result.status) for result in second.results.values()} == {"success", "warn"}

        schema = project.test_schema
        merged = [(1, 1.5), (2, 2.0), (3, 3.0), (4, -4.0), (5, 5.55)]
        source = [(1, 1.25), (2, 2.0), (3, 3.0), (4, -4.0), (5, 5.55), (6, 1.5)]
        assert {name: amounts(spark, f"{schema}.{name}") for name in (*CONFIGS, "analysed")} == {
            "replaced": [(1, 1.5), (5, 5.55)],
            "deleted": merged,
            "merged": merged,
            "source": source,
            "analysed": [row for row in source if row[1] >= -1],
        }
        not_listed = spark.sql(f"select id, s.n from {schema}.not_listed").collect()
        assert sorted(not_listed) == [(1, 1), (2, 5000000000)]
        # The snapshot would say that the rows it does not find are deleted.
        assert amounts(spark, f"{schema}.kept where dbt_valid_to is null") == source
        assert second.results["none_is_small"].failures == len(source)

        with settings_of(spark, DEFAULTS):
            (audited,) = document("audit_lossy_writes", models=["analysed"])["tables"]
        assert audited["rows"]["produced"] == audited["rows"]["compared"] == 5
