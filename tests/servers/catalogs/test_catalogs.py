"""Delta tables in Spark's own catalog and Iceberg tables in another, in one project."""

import json

import pytest
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql import SparkSession

from dbt.adapters.deltawiden.delta.backends.jvm_files import FilesByJvm
from tests.functional.operate import document
from tests.functional.support import Table, dbt

AMOUNT = "cast({{ var('amount', '1.25') }} as decimal({{ var('type', '8,2') }})) as amount"
ORDERS = (
    "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id', "
    "on_schema_change='append_new_columns', type_widening=true) }} select 1 as id, " + AMOUNT
)
LAKE = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          file_format='iceberg', catalog='lake') }}
select id, cast(id as string) as name from {{ ref('orders') }}
"""
PYTHON = """
def model(dbt, session):
    dbt.config(materialized='incremental', incremental_strategy='append',
               file_format='iceberg', database='lake')
    return dbt.ref('in_lake')
"""
SCHEMA = """
seeds:
  - name: codes
    config: {catalog: lake, file_format: iceberg}
snapshots:
  - name: versions
    relation: ref('grown')
    config: {database: lake, file_format: iceberg, unique_key: id, strategy: check, check_cols: all}
sources:
  - name: lake
    catalog: lake
    schema: "{{ target.schema }}"
    tables: [{name: in_lake}]
models:
  - name: in_lake
    description: It is in the lake.
    config: {persist_docs: {relation: true, columns: true}}
    columns:
      - name: id
        description: The order.
        data_tests: [{not_null: {config: {store_failures: true}}}]
"""


class TestTwoCatalogs:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders.sql": ORDERS,
            "grown.sql": "{{ config(materialized='table') }} select 1 as id, "
            "'{{ var('name', 'one') }}' as name",
            "in_lake.sql": LAKE,
            "replaced.sql": "{{ config(materialized='table', database='lake', "
            "file_format='iceberg') }} select * from {{ ref('in_lake') }}",
            "seen.sql": "{{ config(materialized='view') }} -- depends_on: {{ ref('in_lake') }}\n"
            "select * from {{ source('lake', 'in_lake') }}",
            "in_python.py": PYTHON,
            "all.yml": SCHEMA,
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"codes.csv": "id,name\n1,one\n"}

    @pytest.fixture(scope="class")
    def lake(self, project, spark: SparkSession):
        return lambda name: Table(spark, f"lake.{project.test_schema}.{name}")

    @pytest.fixture(scope="class")
    def first(self, project):
        return dbt("build")

    @pytest.fixture(scope="class")
    def second(self, first):
        return dbt("build", type="12,4", amount="1.2367", name="two")

    def test_each_table_is_in_its_catalog(self, first, project, spark, lake):
        assert {str(r.status) for r in first.results.values()} <= {"success", "pass"}, first.output
        here = spark.sql(f"show tables in {project.test_schema}").collect()
        assert {row.tableName for row in here if not row.isTemporary} == {"orders", "grown", "seen"}
        there = spark.sql(f"show tables in lake.{project.test_schema}").collect()
        names = {row.tableName for row in there if not row.isTemporary}
        assert names == {"in_lake", "replaced", "in_python", "codes", "versions"}

    def test_the_delta_table_is_widened(self, second, table):
        assert {str(r.status) for r in second.results.values()} <= {"success", "pass"}, (
            second.output
        )
        assert table("orders").operations(0) == ["CHANGE COLUMN", "MERGE"]

    def test_existing_iceberg_tables_are_written_and_not_replaced(self, second, lake, spark):
        assert len(lake("in_python").rows()) == 2
        # A table that is replaced starts again, with a snapshot that has no parent.
        made = spark.table(f"{lake('in_lake').name}.snapshots").orderBy("committed_at").collect()
        assert [row.parent_id for row in made] == [None, made[0].snapshot_id]
        assert lake("in_lake").rows() == [(1, "1")]

    def test_a_seed_keeps_its_table_and_has_one_commit_for_each_run(self, second, lake, spark):
        commits = spark.sql(f"select operation from {lake('codes').name}.snapshots").count()
        assert (commits, lake("codes").rows()) == (2, [(1, "one")])

    def test_a_snapshot_in_the_lake_keeps_its_versions(self, second, lake):
        assert lake("versions").rows("name", "dbt_valid_to is null") == [
            ("one", False),
            ("two", True),
        ]

    def test_the_comments_are_on_the_table(self, second, lake, spark):
        assert spark.table(lake("in_lake").name).schema["id"].metadata["comment"] == "The order."

    def test_the_view_in_sparks_catalog_reads_the_lake(self, second, table):
        assert table("seen").rows() == [(1, "1")]

    def test_the_pages_of_docs_have_both_catalogs(self, second, project):
        run_dbt(["docs", "generate"])
        with open("target/catalog.json") as file:
            catalog = json.load(file)
        found = {
            name.split(".")[-1]: node["metadata"]["database"]
            for name, node in catalog["nodes"].items()
        }
        assert found["in_lake"] == found["versions"] == found["codes"] == "lake"
        assert found["orders"] is found["seen"] is None
        (source,) = catalog["sources"].values()
        assert list(source["columns"]) == ["id", "name"]

    def test_an_operation_finds_tables_in_both_catalogs(self, second, project):
        name = f"lake.{project.test_schema}.in_lake"
        reported = document("report_type_widening", relations=[name, "orders"])["tables"]
        assert reported[0]["format"] == "iceberg"
        assert reported[1]["table"] == f"`{project.test_schema}`.`orders`"

    def test_an_empty_run_keeps_the_rows(self, second, lake):
        assert dbt("run", "--empty", type="12,4").status("in_lake") == "success"
        assert lake("in_lake").rows() == [(1, "1")]


BATCHES = """
{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at',
    begin='2024-01-01', batch_size='day', file_format='iceberg', catalog='lake',
    concurrent_batches=true, {partitions}) }}}}
select *, to_date(at) as day, {{{{ var('n', 1) }}}} as n, {value} as value from
(select timestamp_ntz'{{{{ model.batch.event_time_start if model.batch else 2024 }}}}' as at)
"""
DAYS = range(1, 7)


class TestBatches:
    MODELS = {
        "days": ("partition_by='days(at)'", "1"),
        "derived": ("partition_by='day'", "uuid()"),
        "shared": ("", "1"),
    }

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return {**dbt_profile_target, "threads": 4}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": BATCHES.format(partitions=partitions, value=value)
            for name, (partitions, value) in self.MODELS.items()
        }

    @pytest.fixture(scope="class")
    def first(self, project, lake, spark: SparkSession):
        limits = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-07")
        run = dbt("run", "--exclude", "shared", *limits)
        one_file = f"select /*+ coalesce(1) */ * from lake.{project.test_schema}.days"
        spark.sql(f"create table lake.{project.test_schema}.shared using iceberg as {one_file}")
        return run

    @pytest.fixture(scope="class")
    def second(self, first):
        return dbt("run", "--event-time-start", "2024-01-02", "--event-time-end", "2024-01-03", n=2)

    @pytest.mark.parametrize("name", ["days", "derived"])
    def test_that_run_at_once_replace_their_own_rows(self, first, second, lake, name):
        assert first.status(name) == "success", first.output
        assert second.status(name) == "success", second.output
        assert lake(name).rows("day(day)", "n") == [(day, 1 + (day == 2)) for day in DAYS]

    def test_of_one_file_stop_the_run(self, second, lake):
        assert second.status("shared") == "error"
        assert "partition_by: days(" in second.output
        assert lake("shared").rows("day(day)", "n") == [(day, 1) for day in DAYS]


class TestCatalogOfTheProfile:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        return {**dbt_profile_target, "catalog": "lake"}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+file_format": "iceberg"}}

    @pytest.fixture(scope="class")
    def models(self):
        written = "config(materialized='incremental', incremental_strategy='append')"
        return {
            "appended.sql": f"{{{{ {written} }}}} select 1 as id",
            "here.sql": "{{ config(catalog='spark_catalog', materialized='table', "
            "file_format='delta') }} select * from {{ ref('appended') }}",
        }

    def test_a_second_run_appends(self, project, spark: SparkSession):
        for _ in range(2):
            found = dbt("run")
            assert {str(r.status) for r in found.results.values()} == {"success"}, found.output
        assert Table(spark, f"lake.{project.test_schema}.appended").rows() == [(1,), (1,)]
        assert Table(spark, f"spark_catalog.{project.test_schema}.here").rows() == [(1,), (1,)]


class TestSchemaWithCatalog:
    """`schema: catalog.schema`, as users of dbt-spark write it."""

    @pytest.fixture(scope="class")
    def unique_schema(self, unique_schema: str) -> str:
        return f"lake.{unique_schema}_path"

    @pytest.fixture(scope="class")
    def models(self):
        # Iceberg stores every text in a partition as it is.
        written = "config(materialized='incremental', file_format='iceberg', partition_by='region')"
        return {"appended.sql": f"{{{{ {written} }}}} select 1 as id, '' as region"}

    def test_a_second_run_appends(self, project, spark: SparkSession):
        for _ in range(2):
            found = dbt("run")
            assert {str(r.status) for r in found.results.values()} == {"success"}, found.output
        assert Table(spark, f"{project.test_schema}.appended").rows() == [(1, "")] * 2
        reported = document("report_type_widening", relations=[f"{project.test_schema}.appended"])
        assert [table["format"] for table in reported["tables"]] == ["iceberg"]


class TestCatalogThatIsNotThere:
    @pytest.fixture(scope="class")
    def models(self):
        return {"lost.sql": "{{ config(catalog='nowhere', materialized='table') }} select 1 as id"}

    def test_the_run_stops_and_names_it(self, project):
        with pytest.raises(Exception, match="nowhere"):
            dbt("run")


OVERWRITES = """
{{ config(materialized='incremental', file_format='iceberg', partition_by='part',
          incremental_strategy='insert_overwrite') }}
select 1 as part, {{ var('n') }} as n
"""

OF_DAYS = """
{{ config(materialized='incremental', file_format='iceberg', partition_by='days(at)',
          incremental_strategy='insert_overwrite') }}
select make_timestamp(2024, 1, {{ var('day', 1) }}, 12, 0, 0) as at
"""


class TestTheCatalogOfTheSession:
    @pytest.fixture(scope="class")
    def models(self):
        return {"overwrites.sql": OVERWRITES, "of_days.sql": OF_DAYS}

    @pytest.fixture(scope="class", autouse=True)
    def _current(self, project, spark: SparkSession):
        schema = project.test_schema
        spark.sql(
            f"create table {schema}.overwrites using parquet partitioned by (part) as "
            "select 7 as n, 1 as part"
        )
        spark.sql(f"create schema lake.{schema}")
        spark.sql("use lake")
        yield
        spark.sql("use spark_catalog")

    def test_has_the_tables_that_are_overwritten(self, project, spark, lake):
        for n in (1, 2):
            run = dbt("run", n=n)
            assert run.status("overwrites") == "success", run.message("overwrites")
            assert lake("overwrites").rows("n") == [(n,)]
        other = spark.table(f"spark_catalog.{project.test_schema}.overwrites")
        assert other.select("n").collect() == [(7,)]

    def test_keeps_the_rows_of_a_table_that_is_not_partitioned(self, project, spark, lake):
        name = f"lake.{project.test_schema}.overwrites"
        spark.sql(f"create or replace table {name} using iceberg as select 7 as n, 7 as part")
        message = dbt("run", "-s", "overwrites", n=1).message("overwrites")
        assert "is not partitioned" in message
        assert lake("overwrites").rows("n") == [(7,)]

    def test_replaces_the_partitions_of_transforms(self, project, lake):
        for day in (1, 2, 2):
            run = dbt("run", "-s", "of_days", day=day)
            assert run.status("of_days") == "success", run.message("of_days")
        assert lake("of_days").rows("day(at)") == [(1,), (2,)]

    def test_has_the_tables_whose_logs_are_opened(self, project, spark):
        name = f"{project.test_schema}.named"
        spark.sql(f"create table {name} (id int) using iceberg")
        spark.sql(f"create table spark_catalog.{name} (id int) using delta")
        assert FilesByJvm(spark, f"spark_catalog.{name}").version() == 0
        with pytest.raises(DbtDatabaseError, match="deltaLog"):  # Iceberg's table has none.
            FilesByJvm(spark, name)


COUNTED = """
-- depends_on: {{ ref('AFTER') }}
{{ config(materialized='table') }} select count(*) as n from lake.{{ target.schema }}.audit
"""
RECORDED = """
{{ config(materialized='incremental', file_format='iceberg', catalog='lake', partition_by='part',
          incremental_strategy='insert_overwrite',
          post_hook='insert into lake.{{ target.schema }}.audit values (1)') }}
select 1 as part, n from {{ ref('before') }}
"""


class TestATableThatAHookWrites:
    """A node that overwrites partitions runs in a session of its own."""

    @pytest.fixture(scope="class")
    def models(self):
        before = COUNTED.replace("-- depends_on: {{ ref('AFTER') }}", "")
        after = COUNTED.replace("AFTER", "recorded")
        return {"before.sql": before, "recorded.sql": RECORDED, "after.sql": after}

    def test_has_the_rows_of_the_hook_for_the_next_nodes(self, project, spark, table):
        spark.sql(f"create schema if not exists lake.{project.test_schema}")
        spark.sql(f"create table lake.{project.test_schema}.audit (id int) using iceberg")
        run = dbt("run")
        assert {str(r.status) for r in run.results.values()} == {"success"}, run.output
        assert table("before").rows() == [(0,)]
        assert table("after").rows() == [(1,)]
