"""`optimize: after_run`, `zorder` and `zorder_by`: OPTIMIZE after a model is written."""

import pytest

from tests.functional.support import dbt

INCREMENTAL = """
{{{{ config(materialized='incremental', {config}) }}}}
select /*+ repartition(2) */ id + {{{{ var('step', 0) }}}} as id, id as n from range(10)
"""
TABLE = "{{{{ config(materialized='table', {config}) }}}} select 1 as id, 2 as n"
SNAPSHOT = """
{% snapshot kept %}
{{ config(strategy='check', unique_key='id', check_cols=['n'], zorder='id') }}
select 1 as id, {{ var('step', 0) }} as n
{% endsnapshot %}
"""
PYTHON = """
def model(dbt, spark):
    dbt.config(materialized='incremental', optimize='after_run')
    return spark.range(4).repartition(2)
"""


@pytest.mark.slow
class TestOptimizeAfterRun:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "compacted.sql": INCREMENTAL.format(config="optimize='after_run'"),
            "ordered.sql": INCREMENTAL.format(config="optimize='after_run', zorder_by=['n', 'id']"),
            "databricks.sql": INCREMENTAL.format(config="zorder='id'"),
            "plain.sql": INCREMENTAL.format(config=""),
            "skipped.sql": INCREMENTAL.format(config="optimize='after_run', skip_optimize=true"),
            "built.sql": TABLE.format(config="zorder=['id', 'n']"),
            "nameless.sql": INCREMENTAL.format(config="zorder='missing'"),
            "clustered.sql": INCREMENTAL.format(config="liquid_clustered_by=['n', 'id']"),
            "a_view.sql": "{{ config(optimize='after_run', zorder='id') }} select 1 as id",
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"kept.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def first(self, project):
        return dbt("build")

    @pytest.fixture(scope="class")
    def second(self, first):
        return dbt("build", step=100)

    def test_it_runs_after_each_write(self, second, table):
        assert table("compacted").operations(since=-1) == [
            "CREATE OR REPLACE TABLE AS SELECT",
            "OPTIMIZE",
            "WRITE",
            "OPTIMIZE",
        ]
        assert table("compacted").history[-1].operationParameters["zOrderBy"] == "[]"
        files = table("compacted").spark.sql(f"describe detail {table('compacted').name}")
        assert files.collect()[0].numFiles == 1
        assert len(table("compacted").rows()) == 20

    @pytest.mark.parametrize(
        ("name", "columns"),
        [
            ("ordered", '["n","id"]'),
            ("databricks", '["id"]'),
            ("built", '["id","n"]'),
            ("kept", '["id"]'),
        ],
    )
    def test_the_configured_columns_order_the_rows(self, second, table, name, columns):
        assert second.status(name) == "success"
        assert table(name).history[-1].operation == "OPTIMIZE"
        assert table(name).history[-1].operationParameters["zOrderBy"] == columns

    def test_the_rows_of_a_clustered_table_are_clustered(self, second, table):
        assert second.status("clustered") == "success"
        clustered = table("clustered")
        assert clustered.operations(since=0) == ["OPTIMIZE", "WRITE", "OPTIMIZE"]
        for commit in clustered.history:
            if commit.operation == "OPTIMIZE":
                assert commit.operationParameters["clusterBy"] == '["n","id"]'
        assert len(clustered.rows()) == 20

    def test_nothing_runs_where_nothing_is_configured_or_it_is_skipped(self, second, table):
        for name in ("plain", "skipped"):
            assert second.status(name) == "success"
            assert table(name).operations(since=-1) == [
                "CREATE OR REPLACE TABLE AS SELECT",
                "WRITE",
            ]

    def test_a_view_is_left_alone(self, first):
        assert first.status("a_view") == "success"

    def test_a_failure_says_that_the_rows_are_written(self, first, table):
        assert first.status("nameless") == "error"
        message = first.message("nameless")
        assert "`nameless` are written and committed" in message
        assert "zorder by (missing)" in message
        assert "Z-Ordering column missing does not exist" in message
        assert len(table("nameless").rows()) >= 10

    @pytest.mark.parametrize("name", ["DATABRICKS_SKIP_OPTIMIZE", "databricks_skip_optimize"])
    def test_dbt_databricks_variable_skips_it(self, second, table, name):
        before = table("compacted").version
        assert dbt("run", "--select", "compacted", **{name: "true"}).status("compacted") == (
            "success"
        )
        assert table("compacted").operations(since=before) == ["WRITE"]


class TestOptimizeAfterAPythonModel:
    @pytest.fixture(scope="class")
    def models(self):
        return {"in_python.py": PYTHON}

    def test_it_runs_after_each_write(self, project, table):
        for _ in range(2):
            assert dbt("run").status("in_python") == "success"
            assert table("in_python").history[-1].operation == "OPTIMIZE"


class TestWrongConfiguration:
    @pytest.fixture(scope="class")
    def models(self):
        wrong = {
            "word": "optimize='always'",
            "flag": "optimize=false",
            "number": "zorder=3",
            "two": "zorder='id', zorder_by='n'",
            "clustered": "zorder='id', liquid_clustered_by='n'",
            "parquet": "optimize='after_run', file_format='parquet'",
            "skip": "skip_optimize='yes'",
        }
        return {f"{name}.sql": TABLE.format(config=config) for name, config in wrong.items()}

    @pytest.fixture(scope="class")
    def run(self, project):
        return dbt("run")

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("number", "zorder: got 3; accepted: a column's name, or a list of them"),
            ("two", "zorder_by: got 'n'; accepted: leave it out, because zorder is 'id'"),
            ("clustered", "zorder: got 'id'; accepted: leave it out: liquid_clustered_by is 'n'"),
            ("parquet", "optimize: got 'after_run'; accepted: file_format: delta"),
            ("skip", "skip_optimize: got 'yes'; accepted: true, false"),
        ],
    )
    def test_the_error_names_the_model_and_what_is_accepted(self, run, name, said):
        assert run.status(name) == "error"
        assert said in run.message(name)
        assert f"model.test.{name} is not valid" in run.message(name)

    def test_another_value_of_optimize_is_ignored(self, run):
        assert (run.status("word"), run.status("flag")) == ("success", "success")
        assert "optimize: got 'always'; accepted: after_run. The value is ignored" in run.output
