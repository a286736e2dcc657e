"""A table that is created or replaced: its format, its properties, its table features."""

import pytest

from tests.functional.support import dbt


class TestReplacedTables:
    @pytest.fixture(scope="class")
    def models(self):
        query = "select 1 as id, {{ var('value') }} as at"
        return {
            "whole.sql": "{{ config(materialized='table') }}" + query,
            "refreshed.sql": "{{ config(materialized='incremental') }}" + query,
        }

    @pytest.mark.slow
    def test_a_replaced_table_gains_the_table_feature_of_a_new_type(self, project, table):
        dbt("run", value="date'2024-01-01'")
        assert table("whole").types["at"] == "date"
        run = dbt("run", "--full-refresh", value="timestamp_ntz'2024-01-01 10:11:12'")
        for name in ("whole", "refreshed"):
            assert run.status(name) == "success", run.message(name)
            assert table(name).types["at"] == "timestamp_ntz"
            assert table(name).properties["delta.feature.timestampNtz"] == "supported"

    def test_the_default_file_format_is_delta(self, project, spark):
        dbt("run", value="1")
        for name in ("whole", "refreshed"):
            detail = spark.sql(f"describe detail {project.test_schema}.{name}").collect()[0]
            assert detail.format == "delta"


KEPT = """
{{{{ config(materialized=var('kept', 'table'), file_format='{file_format}') }}}}
select {{{{ var('at') }}}} as at
{{% if var('reads', '') %}}from {{{{ var('reads') ~ this }}}}{{% endif %}} -- not {{{{ this }}}}
"""
CONTRACTS = """
models:
  - name: kept
    config: {contract: {enforced: true}}
    columns: [{name: at, data_type: int}]
  - name: parquet
    config: {contract: {enforced: true}}
    columns: [{name: at, data_type: int}]
"""


FRAME = """
def model(dbt, spark):
    dbt.config(materialized='incremental', file_format='parquet')
    if dbt.config.get('reads') == 'rdd':
        old = spark.table(str(dbt.this))
        return spark.createDataFrame(old.rdd.map(tuple), old.schema)
    if dbt.config.get('reads') == 'path':
        return spark.read.parquet(*spark.table(str(dbt.this)).inputFiles())
    if dbt.config.get('reads') == 'cached':
        return spark.read.parquet(*spark.table(str(dbt.this)).inputFiles()).cache()
    if 'both' in dbt.config.get('reads'):
        own = spark.read.parquet(*spark.table(str(dbt.this)).inputFiles()).cache()
        return own.union(spark.read.json(dbt.config.get('reads').removeprefix('both ')))
    if dbt.config.get('reads') in ('cached and named', 'subquery'):
        files = spark.table(str(dbt.this)).inputFiles()
        named = f'select * from {dbt.this.schema}.parquet'
        if dbt.config.get('reads') == 'subquery':
            return spark.sql(f'{named} where at = (select max(at) from parquet.`{files[0]}`)')
        return spark.read.parquet(*files).cache().union(spark.sql(named))
    parquet = f'{dbt.this.schema}.parquet'
    if dbt.config.get('reads') == 'path beside':
        own = spark.read.parquet(*spark.table(str(dbt.this)).inputFiles())
        return own.join(spark.table(parquet).distinct(), 'at', 'left')
    if 'joined' in dbt.config.get('reads'):
        landing = spark.read.json(dbt.config.get('reads').removeprefix('joined '))
        wide = landing.selectExpr('*', *(f'at + {n} as c{n}' for n in range(30)))
        return wide.join(spark.table(parquet), 'at', 'left').select('at').distinct()
    if 'landing' in dbt.config.get('reads'):
        return spark.read.json(dbt.config.get('reads'))
    if dbt.config.get('reads') == 'others':
        others = [spark.table(f'{dbt.this.schema}.{name}') for name in ('parquet', 'over', 'other')]
        return others[0].union(others[1]).union(others[2]).distinct()
    if dbt.is_incremental or dbt.config.get('reads') == 'True':
        return spark.table(str(dbt.this))
    return spark.sql('select 7 as at')
"""
FRAME_CONFIG = "models: [{name: frame, config: {reads: \"{{ var('reads_itself', '') }}\"}}]"


class TestTablesThatAreDropped:
    @pytest.fixture(scope="class")
    def models(self):
        query = "select 1 as id, {{ var('value') }} as at; -- one row"
        return {
            "whole.sql": "{{ config(materialized='table', file_format='parquet') }}" + query,
            "refreshed.sql": "{{ config(materialized='incremental', file_format='parquet') }}"
            + query,
            "viewed.sql": "{{ config(materialized=var('materialized')) }}"
            + query.replace("value", "viewed").partition(";")[0],
            "kept.sql": KEPT.format(file_format="delta"),
            "parquet.sql": KEPT.format(file_format="parquet"),
            "kept.yml": CONTRACTS,
            "frame.py": FRAME,
            "frame.yml": FRAME_CONFIG,
        }

    @pytest.mark.slow
    def test_stay_if_the_query_is_not_valid(self, project, table):
        names = ("whole", "refreshed", "viewed")
        dbt("run", "-s", *names, value="1", viewed="1", materialized="view")
        others = ("--exclude", "kept", "parquet", "frame", "--full-refresh")
        run = dbt("run", *others, value="gone", viewed="gone", materialized="table")
        for name in names:
            assert run.status(name) == "error"
            assert "UNRESOLVED_COLUMN" in run.message(name)
            assert table(name).rows("at") == [(1,)]
        run = dbt("run", *others, value="2", viewed="2", materialized="table")
        for name in names:
            assert run.status(name) == "success", run.message(name)
            assert table(name).rows("at") == [(2,)]

    def test_stay_if_what_replaces_them_is_refused(self, project, table):
        """A table that becomes a view, and one that Spark can't replace."""
        viewed = {"viewed": "1", "value": "1", "materialized": "view"}
        both = ("run", "--full-refresh", "-s", "kept", "parquet")
        dbt(*both, kept="table", at="7", **viewed)
        refused = {
            "UNRESOLVED_COLUMN": {"at": "gone"},
            "enforced contract that failed": {"at": "'seven'"},
            "because the model reads it": {"at": "8", "reads": "spark_catalog."},
        }
        for words, variables in refused.items():
            for kept in ("view", "table"):
                run = dbt(*both, kept=kept, **viewed, **variables)
                names = ("kept", "parquet") if kept == "view" else ("parquet",)
                for name in names:
                    assert words in run.message(name)
                    assert table(name).rows("at") == [(7,)]
        run = dbt(*both, kept="view", at="9", **viewed)
        for name in ("kept", "parquet"):
            assert run.status(name) == "success", run.message(name)
            assert table(name).rows("at") == [(9,)]

    @pytest.mark.slow
    def test_stay_if_a_view_or_a_data_frame_reads_them(self, project, table, tmp_path):
        viewed = {"viewed": "1", "value": "1", "materialized": "view"}
        both = ("run", "--full-refresh", "-s", "parquet", "frame")
        # The code of a Python model names its own table, and this run does not read it.
        for _ in range(2):
            run = dbt(*both, at="7", **viewed)
            assert {run.status("parquet"), run.status("frame")} == {"success"}, run.output
        project.run_sql("create view {schema}.over as select * from {schema}.parquet")
        reads = f"{project.test_schema}.over -- "
        run = dbt(*both, at="8", reads=reads, reads_itself="True", **viewed)
        for name in ("parquet", "frame"):
            assert "because the model reads it" in run.message(name)
            assert table(name).rows("at") == [(7,)]
        landing = tmp_path / "landing %20" / "rows.json"
        landing.parent.mkdir()
        landing.write_text('{"at": 7}')
        # Spark does not show what an RDD reads, and not whose files are read.
        own = ("rdd", "path", "path beside", "cached", "cached and named", "subquery")
        for reads in (*own, f"both {landing}"):
            run = dbt("run", "--full-refresh", "-s", "frame", reads_itself=reads, **viewed)
            assert "because the model reads it" in run.message("frame")
            assert table("frame").rows("at") == [(7,)]
        project.run_sql("create table {schema}.other using delta as select 7 as at")
        # Files of nobody's table.
        for reads in ("others", str(landing), f"joined {landing}"):
            run = dbt("run", "--full-refresh", "-s", "frame", reads_itself=reads, **viewed)
            assert run.status("frame") == "success", run.message("frame")
        # A view has no files.
        project.run_sql("drop table {schema}.frame")
        project.run_sql(f"create view {{schema}}.frame as select at from json.`{landing.parent}`")
        run = dbt("run", "-s", "frame", reads_itself=str(landing), **viewed)
        assert run.status("frame") == "success", run.message("frame")
        project.run_sql("drop table {schema}.frame")
        project.run_sql("create view {schema}.frame as select 8 as at")
        run = dbt("run", "-s", "frame", **viewed)
        assert run.status("frame") == "success", run.message("frame")
        assert table("frame").rows("at") == [(7,)]


class TestTypeWideningAndTblproperties:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "both.sql": """
{{ config(materialized='table', type_widening=true, tblproperties={'delta.appendOnly': 'false'}) }}
select 1 as id
""",
            "parquet.sql": """
{{ config(materialized='table', file_format='parquet', type_widening=true) }} select 1 as id
""",
        }

    def test_both_are_set_on_delta_tables_only(self, project, table):
        run = dbt("run")
        assert run.status("both") == "success", run.message("both")
        assert table("both").properties["delta.enableTypeWidening"] == "true"
        assert table("both").properties["delta.appendOnly"] == "false"
        assert run.status("parquet") == "success", run.message("parquet")
        assert "delta.enableTypeWidening" not in table("parquet").properties


class TestLocationOnS3:
    @pytest.fixture(scope="class")
    def models(self):
        config = "materialized='table', location_root='s3a://bucket.example/shop'"
        return {"orders.sql": f"{{{{ config({config}) }}}} select 1 as id"}

    def test_a_run_is_warned_of_a_second_driver(self, project):
        run = dbt("run")
        # Without hadoop-aws, Spark can't write there.
        assert run.status("orders") == "error"
        assert run.output.count("only one driver at a time") == 1
        assert "s3a://bucket.example/shop" in run.output
