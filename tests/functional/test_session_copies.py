"""A node that changes its session has a copy, in which statements mean the same."""

import builtins
from importlib.metadata import version
from threading import Barrier

import pytest
from pyspark.sql import SparkSession

from tests.functional.support import dbt
from tests.small import settings_of

OVERWRITES = """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='part',
          pre_hook='declare or replace variable session_copy int default ' ~ var('step')) }}
select 1 as part, session_copy as n
"""
CATALOG = "spark.sql.catalog.elsewhere"
ELSEWHERE = {
    CATALOG: "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    f"{CATALOG}.url": "jdbc:derby:memory:elsewhere;create=true",
    f"{CATALOG}.driver": "org.apache.derby.jdbc.EmbeddedDriver",
}


class TestCopies:
    @pytest.fixture(scope="class")
    def models(self):
        return {"overwrites.sql": OVERWRITES}

    @pytest.mark.slow
    @pytest.mark.skipif(version("pyspark") < "4", reason="Spark 3.5 has no variables")
    def test_have_the_variables_of_a_hook(self, project, table):
        for step in (1, 2, 3):
            run = dbt("run", step=step)
            assert run.status("overwrites") == "success", run.message("overwrites")
            assert table("overwrites").rows() == [(1, step)]

    def test_have_the_current_catalog(self, project, spark: SparkSession):
        current = "select current_catalog(), current_schema()"
        with settings_of(spark, ELSEWHERE), project.adapter.connection_named("copied"):
            spark.sql("use elsewhere.`APP`")
            handle = project.adapter._handle()
            try:
                with handle.with_setting("spark.sql.session.timeZone", "UTC"):
                    handle.execute(current)
                    assert [tuple(row) for row in handle.fetchall()] == [("elsewhere", "APP")]
            finally:
                spark.sql("use spark_catalog.default")


HOOKED = """
{{ config(materialized='table', pre_hook=[
    'set spark.sql.session.timeZone = UTC',
    'create or replace temporary view of_a_hook as select 7 as id']) }}
select unix_seconds(cast('2024-01-01 00:00:00' as timestamp)) as at, id from of_a_hook
"""
AFTER = """
-- depends_on: {{ ref('hooked') }}
{{ config(materialized='table') }}
select unix_seconds(cast('2024-01-01 00:00:00' as timestamp)) as at
"""
# dbt runs the hook before the first batch.
BATCHES = """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='day',
    begin='2024-01-01', batch_size='day', pre_hook='set spark.sql.session.timeZone = UTC') }}
select to_date('{{ model.batch.id if model.batch else 20240101 }}', 'yyyyMMdd') as day,
  unix_seconds(cast('2024-01-01 00:00:00' as timestamp)) as at
"""
# Each of the two has made its view before one of them reads.
AT_ONCE = """
import builtins

def model(dbt, spark):
    spark.range({rows}).createOrReplaceTempView('numbers')
    builtins.both_have_a_view.wait(120)
    return spark.sql('select count(*) as n from numbers')
"""
OF_BUILDER = """
from pyspark.sql import SparkSession

def model(dbt, spark):
    other = SparkSession.builder.getOrCreate()
    if dbt.config.get('refused'):
        other.conf.set('spark.sql.parquet.outputTimestampType', 'TIMESTAMP_MILLIS')
    return other.range(3)
"""
REFUSED = "models: [{name: refused, config: {refused: true}}]"


class TestNodes:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "hooked.sql": HOOKED,
            "after.sql": AFTER,
            "batches.sql": BATCHES,
            "one.py": AT_ONCE.format(rows=1),
            "two.py": AT_ONCE.format(rows=2),
            "of_builder.py": OF_BUILDER,
            "refused.py": OF_BUILDER,
            "models.yml": REFUSED,
        }

    @pytest.mark.slow
    def test_do_not_see_what_another_one_changes(self, project, table, spark: SparkSession):
        builtins.both_have_a_view = Barrier(2)
        run = dbt("run", "--select", "one", "two", "hooked", "after")
        for name in ("one", "two", "hooked", "after"):
            assert run.status(name) == "success", run.message(name)
        assert table("hooked").rows("at", "id") == [(1704067200, 7)]
        assert table("after").rows("at") == [(1704085200,)]
        assert [table(name).rows("n") for name in ("one", "two")] == [[(1,)], [(2,)]]
        assert spark.conf.get("spark.sql.session.timeZone") == "America/New_York"

    def test_have_what_their_hook_has_set_in_each_batch(self, project, table):
        days = ("--event-time-start", "2024-01-01", "--event-time-end", "2024-01-04")
        run = dbt("run", "--select", "batches", *days)
        assert run.status("batches") == "success", run.message("batches")
        assert table("batches").rows("at") == [(1704067200,)] * 3

    def test_can_use_the_session_of_the_process(self, project, table, spark: SparkSession):
        setting = "spark.sql.parquet.outputTimestampType"
        before = spark.conf.get(setting)
        run = dbt("run", "--select", "refused")
        dbt("run", "--select", "of_builder")
        assert table("of_builder").rows("id") == [(0,), (1,), (2,)]
        assert "timestamps are stored without their microseconds" in run.message("refused")
        assert spark.conf.get(setting) == before


OF_COMMAND = [
    "set spark.sql.session.timeZone = UTC",
    "create or replace temporary view of_the_command as select 7 as id",
    "use {{ target.schema }}",
]
OF_END = "insert into {{ target.schema }}.appends select 8 as n"
COMMANDS = """
{{ config(materialized='table') }}
select current_timezone() as zone, current_schema() as schema, id
from {{ 'of_the_command' if var('hooked', true) else '(select 0 as id)' }}
"""
ZONE_OF_BUILDER = """
from pyspark.sql import SparkSession

def model(dbt, spark):
    other = SparkSession.builder.getOrCreate()
    return other.createDataFrame([(other.conf.get('spark.sql.session.timeZone'),)], 'zone string')
"""
OF_NODE = "{{ config(pre_hook='set spark.sql.shuffle.partitions = 3') }}"
APPENDS = """
{{ config(materialized='incremental', file_format='parquet',
          pre_hook='set spark.sql.shuffle.partitions = 3') }}
select {{ var('step') }} as n
"""
SUMS = "{{ config(materialized='table') }} select sum(n) as n from {{ ref('appends') }}"


class TestCommands:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "on-run-start": [f"{{% if var('hooked', true) %}}{h}{{% endif %}}" for h in OF_COMMAND],
            "on-run-end": f"{{% if var('hooked', true) %}}{OF_END}{{% endif %}}",
        }

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "plain.sql": COMMANDS,
            "hooked.sql": OF_NODE + COMMANDS,
            "appends.sql": APPENDS,
            "sums.sql": SUMS,
            "of_builder.py": ZONE_OF_BUILDER,
        }

    def test_leave_no_change_of_their_hooks_to_the_next_one(
        self, project, table, spark: SparkSession
    ):
        before = spark.conf.get("spark.sql.session.timeZone"), spark.catalog.currentDatabase()
        for step, hooked, sum_of_all in ((1, True, 1), (2, True, 1 + 8 + 2), (3, False, 22)):
            run = dbt("run", step=step, hooked=hooked)
            for name in ("plain", "hooked", "appends", "sums", "of_builder"):
                assert run.status(name) == "success", run.message(name)
            found = ("UTC", project.test_schema, 7) if hooked else (*before, 0)
            for name in ("plain", "hooked"):
                assert table(name).rows("zone", "schema", "id") == [found]
            assert table("of_builder").rows() == [found[:1]]
            assert table("sums").rows("int(n)") == [(sum_of_all,)]
            assert not spark.catalog.tableExists("of_the_command")
            after = spark.conf.get("spark.sql.session.timeZone"), spark.catalog.currentDatabase()
            assert after == before
            assert SparkSession.builder.getOrCreate() is spark


OF_HOOK = "insert overwrite table {{ target.schema }}.of_hook select 20 as n, 2 as p"
HOOKED_OVERWRITE = f"""
{{{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='p',
          pre_hook="{OF_HOOK}") }}}}
select {{{{ var("step") }}}} as p, 0 as n
"""


class TestHooksOfAModelThatOverwritesPartitions:
    @pytest.fixture(scope="class")
    def models(self):
        return {"overwriting.sql": HOOKED_OVERWRITE}

    def test_keep_the_partitions_that_they_do_not_write(self, project, table, spark: SparkSession):
        hooked = f"{project.test_schema}.of_hook"
        spark.sql(f"create table {hooked} using delta partitioned by (p) as select 1 as n, 1 as p")
        for step, full in ((1, ()), (2, ()), (3, ("--full-refresh",))):
            run = dbt("run", *full, step=step)
            assert run.status("overwriting") == "success", run.message("overwriting")
            assert table("of_hook").rows() == [(1, 1), (20, 2)]
            # A model's own table is replaced as a whole by a full refresh.
            assert table("overwriting").rows("p") == [(1,), (2,)][:step] if step < 3 else [(3,)]


COPIED = """
{{{{ config(materialized='{materialized}', file_format='parquet', {config}) }}}}
select cast({{{{ var('step') }}}} as decimal({{{{ '8,2' if var('step') < 2 else '12,4' }}}})) as d
"""
READER = "{{{{ config(materialized='table') }}}} select d from {{{{ ref('{}') }}}}"


class TestAnotherFormat:
    """Each session of Spark has its own list of the files of a table that is not Delta's."""

    CONFIG = {
        "uncast": "on_lossy_write='ignore'",
        "strict": "store_assignment_policy='strict'",
        "hooked": "pre_hook='set spark.sql.session.timeZone = UTC'",
        "replaced": "pre_hook='set spark.sql.session.timeZone = UTC'",
    }

    @pytest.fixture(scope="class")
    def models(self):
        models = {}
        for name, config in self.CONFIG.items():
            materialized = "table" if name == "replaced" else "incremental"
            model = COPIED.format(materialized=materialized, config=config)
            models[f"{name}.sql"] = model if name == "uncast" else model.replace("12,4", "8,2")
            models[f"after_{name}.sql"] = READER.format(name)
        return models

    def test_is_read_by_the_next_nodes_as_it_is_now(self, project, table):
        for step in (1, 2):
            run = dbt("run", step=step)
        for name in self.CONFIG:
            assert run.status(f"after_{name}") == "success", run.message(f"after_{name}")
        found = {
            name: [int(row[0]) for row in table(f"after_{name}").rows()] for name in self.CONFIG
        }
        assert found.pop("replaced") == [2]
        assert set(map(tuple, found.values())) == {(1, 2)}
