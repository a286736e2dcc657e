"""Incremental models whose tables have another format than Delta."""

import pytest
from pyspark.sql import SparkSession

from tests.functional.operate import document
from tests.functional.support import dbt
from tests.small import settings_of

MODEL = """
{{{{ config(materialized='incremental', file_format='parquet',
          on_schema_change='append_new_columns', {config}) }}}}
select {{% if var('step') > 1 %}} {{{{ var('step') }}}} * 100 as added, {{% endif %}}
  'p' || {{{{ var('step') }}}} as p, {{{{ var('step') }}}} as id
"""
CONFIG = {
    "plain": "incremental_strategy='append'",
    "partitioned": "incremental_strategy='append', partition_by='p'",
    "overwritten": "incremental_strategy='insert_overwrite', partition_by=['p']",
}


class TestParquet:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"{name}.sql": MODEL.format(config=config) for name, config in CONFIG.items()}

    def test_a_new_column_is_added_and_written(self, project, table):
        dbt("run", step=1)
        for name in CONFIG:
            # The session caches the files of the table.
            assert table(name).rows("id", "p") == [(1, "p1")]
        for step in (2, 3):
            run = dbt("run", step=step)
            for name in CONFIG:
                assert run.status(name) == "success", run.message(name)
        for name in CONFIG:
            assert table(name).rows("id", "p", "added") == [
                (1, "p1", None),
                (2, "p2", 200),
                (3, "p3", 300),
            ]
        run = dbt("run", step=3)
        assert len(table("overwritten").rows()) == 3
        assert len(table("partitioned").rows()) == 4


APPENDED = """
{{{{ config(materialized='incremental', incremental_strategy='append', {config}) }}}}
select {columns}
"""
DESCRIBED = "persist_docs={'columns': true}"
COLUMNS = "columns: [{name: id, description: One.}, {name: n, description: Another.}]"
OF_TABLE = {
    "in_orc": ("using orc as select date'2024-01-01' as id", "", "date'1582-10-07' as id"),
    "described": ("using parquet as select 1 as id, 2 as n", DESCRIBED, "3 as id, 4 as n"),
    "of_delta": (
        "using delta as select 1 as id, 2 as n",
        f"file_format='parquet', {DESCRIBED}",
        "3 as id, 4 as n",
    ),
}
BATCHES = """
{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at',
          begin='2026-01-01', batch_size='year', lookback=0, {config}) }}}}
select 2 as id, current_timestamp() as at
"""
MERGED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='append_new_columns') }}
select 1 as id, 2 as added
"""
REFUSED = {
    "replaced": "delete+insert replaces rows in one commit of a Delta table; got file_format "
    "'parquet'",
    "batches": "requires a `partition_by` config for a table that is not Delta's: a column that is "
    "of grain year",
    "merged": "choose this strategy when file_format is set to 'delta' or 'iceberg' or 'hudi'",
}
OVERWRITTEN = """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='p') }}
select {{ var('step', 2) }} as n, 1 as p
"""


class TestATableOfAnotherFormatThanTheModel:
    """A table that dbt-spark has made, for example, of a model that has no file_format."""

    @pytest.fixture(scope="class")
    def models(self):
        models = {
            f"{name}.sql": APPENDED.format(config=config, columns=columns)
            for name, (_, config, columns) in OF_TABLE.items()
        }
        names = ", ".join(f"{{name: {name}, {COLUMNS}}}" for name in ("described", "of_delta"))
        models["overwritten.sql"] = OVERWRITTEN
        models["merged.sql"] = MERGED
        models["replaced.sql"] = MERGED.replace("'merge'", "'delete+insert'")
        models["batches.sql"] = BATCHES.format(config="")
        models["batches_of_delta.sql"] = BATCHES.format(config="file_format='parquet'")
        models["after.sql"] = (
            "{{ config(materialized='table') }} select * from {{ ref('overwritten') }}"
        )
        return {**models, "models.yml": f"models: [{names}]"}

    @pytest.fixture(scope="class")
    def planned(self, project, spark):
        """The plan of each model, before anything is run."""
        schema = project.test_schema
        for name, (definition, _, _) in OF_TABLE.items():
            spark.sql(f"create table {schema}.{name} {definition}")
        made = f"create table {schema}.overwritten using parquet partitioned by (p)"
        spark.sql(f"{made} as select 1 as n, 1 as p")
        of_batches = "as select 1 as id, timestamp'2025-01-01' as at"
        spark.sql(f"create table {schema}.batches using parquet {of_batches}")
        spark.sql(f"create table {schema}.batches_of_delta using delta {of_batches}")
        for name in ("merged", "replaced"):
            spark.sql(f"create table {schema}.{name} using parquet as select 1 as id")
        # The session caches the files of the table.
        assert spark.table(f"{schema}.overwritten").count() == 1
        return {each["model"]: each.get("error") for each in document("plan")["tables"]}

    @pytest.fixture(scope="class")
    def run(self, planned):
        return dbt("run", step=2)

    @pytest.mark.parametrize("name", REFUSED)
    def test_needs_what_the_strategy_needs_for_its_format(self, planned, run, table, name):
        assert REFUSED[name] in planned[name], planned
        assert REFUSED[name] in run.message(name)
        assert len(table(name).rows()) == 1
        assert "added" not in table(name).types

    def test_of_delta_has_batches_without_partitions(self, planned, run, table):
        name = "batches_of_delta"
        assert planned[name] is None
        assert run.status(name) == "success", run.message(name)
        assert table(name).rows("id") == [(1,), (2,)]

    def test_has_the_checks_of_its_format(self, run, table):
        assert "With file_format orc, it would be read as another value" in run.message("in_orc")
        assert len(table("in_orc").rows()) == 1

    @pytest.mark.parametrize("name", ["described", "of_delta"])
    def test_has_the_comments_that_it_can_have(self, run, table, name):
        assert run.status(name) == "success", run.message(name)
        assert table(name).rows("id", "n") == [(1, 2), (3, 4)]
        fields = table(name).spark.table(table(name).name).schema.fields
        comments = [field.metadata.get("comment") for field in fields]
        assert comments == (["One.", "Another."] if name == "of_delta" else [None, None])

    def test_is_read_by_the_next_nodes_as_it_is_now(self, run, table):
        assert run.status("after") == "success", run.message("after")
        assert table("after").rows("n") == [(2,)]


LACKS = """
{{{{ config(materialized='incremental', file_format='{}', {}) }}}} select 2 as id, 2 as p
"""
LACKING = {
    "parquet": "on_schema_change='ignore'",
    **dict.fromkeys(("orc", "csv", "json"), "on_schema_change='append_new_columns'"),
}
OVERWRITING = "incremental_strategy='insert_overwrite', partition_by='p', " + LACKING["orc"]


class TestAColumnWithADefaultThatTheModelLacks:
    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": LACKS.format(name, config) for name, config in LACKING.items()}
        return {**models, "overwritten.sql": LACKS.format("parquet", OVERWRITING)}

    def test_gets_the_default(self, project, table, spark: SparkSession):
        for name in (*LACKING, "overwritten"):
            using = name if name in LACKING else "parquet partitioned by (p)"
            columns = "id int, d int default 5, `t '` string default 'x # y', p int"
            spark.sql(f"create table {table(name).name} ({columns}) using {using}")
        run = dbt("run")
        for name in (*LACKING, "overwritten"):
            assert run.status(name) == "success", run.message(name)
            spark.catalog.refreshTable(table(name).name)  # dbt may write in another session.
            assert table(name).rows("id", "d", "`t '`", "p") == [(2, 5, "x # y", 2)]


@pytest.mark.usefixtures("by_sql_alone")
class TestADefaultBySql(TestAColumnWithADefaultThatTheModelLacks):
    """On a Thrift server."""


PARTS = """
{{{{ config(materialized='{}', partition_by='p', file_format='parquet', {}) }}}}
select {{{{ var('p') }}}} as id, {{{{ var('p') }}}} as p
"""
KEEPING = {
    "spark.sql.legacy.allowNonEmptyLocationInCTAS": "true",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
}


class TestAFolderWithThePartitionsOfAnEarlierTable:
    """Spark leaves the files of a table that is dropped and has a folder of its own."""

    @pytest.fixture(scope="class")
    def models(self):
        overwrites = "incremental_strategy='insert_overwrite'"
        return {
            "made.sql": PARTS.format("table", ""),
            "overwritten.sql": PARTS.format("incremental", overwrites),
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"loaded.csv": "id,p\n1,1\n2,1\n3,2\n"}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"size.sql": "{% macro default__get_batch_size() %}{% do return(2) %}{% endmacro %}"}

    @pytest.fixture(scope="class")
    def project_config_update(self, tmp_path_factory):
        root = {"+location_root": str(tmp_path_factory.mktemp("root"))}
        seeds = {**root, "+file_format": "parquet", "+partition_by": "p"}
        return {"models": root, "seeds": seeds}

    def test_has_only_the_new_rows(self, project, table, spark: SparkSession):
        with settings_of(spark, KEEPING):
            for p in (1, 2):
                run = dbt("build", "--full-refresh", p=p)
                for name in ("made", "overwritten", "loaded"):
                    assert run.status(name) == "success", run.message(name)
                    spark.catalog.refreshTable(table(name).name)
                for name in ("made", "overwritten"):
                    assert table(name).rows("id", "p") == [(p, p)]
                assert table("loaded").rows("id", "p") == [(1, 1), (2, 1), (3, 2)]


REPLACED = """
{{{{ config(materialized='{}', on_schema_change='ignore', {}) }}}}
select {{{{ {} if var('fits') else {} }}}} as v, 2 as p
"""
OVERWRITES = "file_format='{}', incremental_strategy='insert_overwrite'"
WHOLE, PART = "'7.0D'", "'7.9D'"
STOPPED = {
    **{
        f"of_{each}": ("incremental", OVERWRITES.format(each), WHOLE, PART)
        for each in ("parquet", "orc", "csv", "json")
    },
    "in_parts": ("incremental", OVERWRITES.format("parquet"), WHOLE, PART),
    "by_project": ("incremental", "file_format='parquet', incremental_strategy='own'", WHOLE, PART),
    "made_csv": ("table", "file_format='csv'", "\"'x'\"", "\"' x'\""),
    "made_parts": ("table", "file_format='parquet', partition_by='v'", "\"'x'\"", "\"''\""),
    "of_delta": ("table", "file_format='delta', partition_by='v'", "\"'x'\"", "\"''\""),
    "agreed": ("table", "file_format='parquet', contract={'enforced': true}", "7", "0"),
}
OWN = """
{% macro get_incremental_own_sql(arg_dict) %}
  insert overwrite table {{ arg_dict['target_relation'] }}
  select * from {{ arg_dict['temp_relation'] }}
{% endmacro %}
"""
AGREED = """
models:
  - name: agreed
    columns:
      - {name: v, data_type: int, constraints: [{type: check, expression: v > 0}]}
      - {name: p, data_type: int}
"""


class TestAWriteThatStops:
    """Spark has no statement that replaces such a table in one commit."""

    @pytest.fixture(scope="class")
    def models(self):
        models = {f"{name}.sql": REPLACED.format(*each) for name, each in STOPPED.items()}
        return {**models, "agreed.yml": AGREED}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"own.sql": OWN}

    def test_leaves_the_rows_that_it_would_replace(self, project, table, spark: SparkSession):
        for name, (_, config, *_) in STOPPED.items():
            file_format = config.split("'")[1] if name != "of_delta" else "parquet"
            parts = "partitioned by (p)" if name == "in_parts" else ""
            spark.sql(f"create table {table(name).name} (v int, p int) using {file_format} {parts}")
            spark.sql(f"insert into {table(name).name} values (1, 1), (2, 2)")
        for fits in (False, True):
            run = dbt("run", fits=fits)
            for name in STOPPED:
                assert run.status(name) == ("success" if fits else "error"), run.message(name)
                spark.catalog.refreshTable(table(name).name)
                if not fits:
                    assert table(name).rows("v", "p") == [(1, 1), (2, 2)], name
                elif name.startswith("made") or name == "of_delta":
                    assert table(name).rows("v", "p") == [("x", 2)]
                else:
                    assert table(name).rows("v", "p") == [(7, 2)]
        stored = spark.sparkContext._jsc.sc().getRDDStorageInfo()
        assert not [each.name() for each in stored if "__dbt" in each.name()]


HOOKED = """
{{ config(materialized='incremental', file_format='parquet', on_schema_change='ignore',
  incremental_strategy=var('strategy'), post_hook=var('hook')) }}
select 7.0D as v
"""
SETS = OWN.replace("insert", "{% do run_query('set spark.of.strategy = 1') %} insert")


class TestAWriteOfComputedRows:
    @pytest.fixture(scope="class")
    def models(self):
        return {"hooked.sql": HOOKED}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"own.sql": SETS}

    @pytest.mark.parametrize("strategy", ["insert_overwrite", "own"])
    def test_is_seen_by_the_hooks_of_its_node(self, project, table, spark, strategy):
        for name in ("hooked", "audit"):
            spark.sql(f"drop table if exists {table(name).name}")
            spark.sql(f"create table {table(name).name} using parquet as select 1 as v")
        hook = f"insert into {table('audit').name} select v from {table('hooked').name}"
        run = dbt("run", strategy=strategy, hook=hook)
        assert run.status("hooked") == "success", run.message("hooked")
        spark.catalog.refreshTable(table("audit").name)
        assert table("audit").rows() == [(1,), (7,)]

    def test_lets_no_hook_change_the_session_of_others(self, project, table, spark):
        spark.sql(f"drop table if exists {table('hooked').name}")
        spark.sql(f"create table {table('hooked').name} using parquet as select 1 as v")
        run = dbt("run", strategy="own", hook="set spark.of.hook = 1")
        assert run.status("hooked") == "success", run.message("hooked")
        assert spark.conf.get("spark.of.hook", None) is None


@pytest.mark.slow
@pytest.mark.usefixtures("by_sql_alone")
class TestAWriteThatStopsBySql(TestAWriteThatStops):
    """On a Thrift server."""
