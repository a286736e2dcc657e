"""Projects with their own macros, retries, locations and clones."""

from pathlib import Path

import pytest
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from tests.functional.support import dbt, needs_delta_4

MACROS = """
{% macro spark__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %}
  merge into {{ target }} as DBT_INTERNAL_DEST using {{ source }} as DBT_INTERNAL_SOURCE
  on DBT_INTERNAL_SOURCE.id = DBT_INTERNAL_DEST.id
  when matched then update set v = DBT_INTERNAL_SOURCE.v + 100
  when not matched then insert *
{% endmacro %}

{% macro default__create_view_as(relation, sql) %}
  create or replace view {{ relation }} comment 'of the project' as {{ sql }}
{% endmacro %}
"""
MERGED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          merge_update_columns=['v'], on_schema_change=var('mode'), type_widening=true) }}
{% if var('step') == 1 %} select 1 as id, 1 as v, 1 as w
{% else %} select explode(array(1, 2)) as id, 2 as v, {{ var('w') }} as w {% endif %}
"""


class TestMacrosOfTheProject:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "merged.sql": MERGED,
            "seen.sql": "{{ config(materialized='view') }} select 1 as id",
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"own.sql": MACROS}

    @pytest.mark.slow
    def test_are_used_and_their_values_are_checked(self, project, table, spark: SparkSession):
        dbt("run", step=1, mode="ignore", w="0")
        run = dbt("run", step=2, mode="ignore", w="1.5D")
        assert "the value 1.5 (double) for the column w" in run.message("merged")
        assert table("merged").rows() == [(1, 1, 1)]
        run = dbt("run", step=2, mode="ignore", w="7.0D")
        assert run.status("merged") == "success", run.message("merged")
        assert table("merged").rows() == [(1, 102, 1), (2, 2, 7)]
        assert spark.catalog.getTable(table("seen").name).description == "of the project"

    @needs_delta_4
    def test_write_to_a_table_that_was_widened(self, project, table):
        dbt("run", "--full-refresh", step=1, mode="append_new_columns", w="0")
        run = dbt("run", step=2, mode="append_new_columns", w="3000000000")
        assert run.status("merged") == "success", run.message("merged")
        assert table("merged").rows() == [(1, 102, 1), (2, 2, 3000000000)]


KEY_MATCH = """
{% macro default__get_merge_unique_key_match(source_unique_key, target_unique_key) %}
  {{ return(equals('lower(' ~ source_unique_key ~ ')', 'lower(' ~ target_unique_key ~ ')')) }}
{% endmacro %}
"""
KEYED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id') }}
{% if var('step') == 1 %} select explode(array('A', 'b', null)) as id, 1 as v
{% else %} select explode(array('a', 'c', null)) as id, 2 as v {% endif %}
"""


class TestKeyMatchOfTheProject:
    """A MERGE compares a key with the macros of dbt-adapters that a project may replace."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"flags": {"enable_truthy_nulls_equals_macro": True}}

    @pytest.fixture(scope="class")
    def models(self):
        return {"keyed.sql": KEYED}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"own.sql": KEY_MATCH}

    def test_decides_which_rows_a_merge_updates(self, project, table):
        dbt("run", step=1)
        run = dbt("run", step=2)
        assert run.status("keyed") == "success", run.message("keyed")
        assert table("keyed").rows() == [("a", 2), ("b", 1), ("c", 2), (None, 2)]


GROWS = """
{{ config(materialized='incremental', type_widening=var('widens'), full_refresh=false,
          on_schema_change='append_new_columns', location_root=var('root')) }}
{% if var('step') == 1 %} select 1 as id, 1 as v
{% else %} select 2 as id, 3000000000 as v {% endif %}
"""


@needs_delta_4
class TestGrowth:
    @pytest.fixture(scope="class")
    def models(self):
        return {"grows.sql": GROWS}

    def test_dbt_retry_continues_after_the_widening(self, project, table, tmp_path: Path, spark):
        root = str(tmp_path)
        dbt("run", step=1, widens=False, root=root)
        run = dbt("run", "--full-refresh", step=2, widens=False, root=root)
        assert "the model sets type_widening: false" in run.message("grows")
        run = dbt("retry", step=2, widens=True, root=root)
        assert run.status("grows") == "success", run.message("grows")
        assert table("grows").rows() == [(1, 1), (2, 3000000000)]
        location = spark.sql(f"describe detail {table('grows').name}").head().location
        assert location == f"file:{tmp_path}/grows"


CLONED = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          type_widening=true, on_schema_change='append_new_columns') }}
{% set step = var('step') %}
{% if step == 1 %} select 1 as id, 1S as v, cast(0.7 as float) as f
{% elif step == 2 %} select 2 as id, 100000 as v, cast(0.7 as float) as f
{% else %} select {{ step }} as id, 3000000000 as v, 2.5D as f {% endif %}
"""


@needs_delta_4
@pytest.mark.slow
class TestClones:
    """A shallow clone has the files of its source, and its own schema and statistics."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"first.sql": CLONED, "second.sql": CLONED}

    def test_a_clone_and_its_source_are_widened_separately(
        self, project, table, spark: SparkSession
    ):
        first, second = table("first"), table("second")
        for step in (1, 2):
            dbt("run", "--select", "first", step=step)
        spark.sql(f"create table {second.name} shallow clone {first.name}")
        old = [(1, 1, 0.699999988079071), (2, 100000, 0.699999988079071)]
        assert dbt("run", "--select", "second", step=3).status("second") == "success"
        assert first.types == {"id": "int", "v": "int", "f": "float"}
        assert len(first.rows()) == 2
        assert dbt("run", "--select", "first", step=4).status("first") == "success"
        for widened, step in ((first, 4), (second, 3)):
            assert widened.types == {"id": "int", "v": "bigint", "f": "double"}
            assert widened.rows() == [*old, (step, 3000000000, 2.5)]
            for condition, found in (("f < 0.7D", 2), ("v = 1", 1), ("v >= 100000", 2)):
                assert spark.table(widened.name).where(condition).count() == found, condition
        run = dbt("run-operation", "drop_type_widening", "--args", "{models: [second]}")
        assert "dropped" in run.output
        assert second.rows() == [*old, (3, 3000000000, 2.5)]
        assert first.rows() == [*old, (4, 3000000000, 2.5)]
        before = spark.sql(f"select * from {first.name} version as of 0").collect()
        assert [row["v"] for row in before] == [1]


UNREADABLE = """{"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
 "readerFeatures": ["ofTheFuture"], "writerFeatures": ["ofTheFuture"]}}""".replace("\n", "")


class TestACloneThatFails:
    @pytest.fixture(scope="class")
    def models(self):
        return {"kept.sql": "{{ config(materialized='table') }} select 1 as id"}

    @pytest.mark.slow
    def test_leaves_the_table_that_it_would_replace(
        self, project, table, tmp_path: Path, spark: SparkSession
    ):
        dbt("run")
        other = f"{project.test_schema}_state"
        manifest = Path("target/manifest.json").read_text(encoding="utf-8")
        state = manifest.replace(project.test_schema, other)
        (tmp_path / "manifest.json").write_text(state, encoding="utf-8")
        spark.sql(f"create schema {other}")
        spark.sql(f"create table {other}.kept using delta as select 2 as id")
        clone = ("clone", "--full-refresh", "--state", str(tmp_path))
        try:
            assert dbt(*clone).status("kept") == "success"
            assert table("kept").rows() == [(2,)]
            location = spark.sql(f"describe detail {other}.kept").head().location
            log = Path(location.removeprefix("file:")) / "_delta_log"
            (log / f"{1:020}.json").write_text(UNREADABLE, encoding="utf-8")
            run = dbt(*clone)
            assert run.status("kept") == "error"
            assert "ofTheFuture" in run.message("kept")
            assert table("kept").version == 0
        finally:
            spark.sql(f"drop schema {other} cascade")


IN_ITS_OWN = """
{{ config(materialized='incremental', on_schema_change='fail') }} select 2 as id
"""
DECLARED = """
models:
  - name: new
    config: {contract: {enforced: true}, liquid_clustered_by: ID}
    columns:
      - {name: id, data_type: int, constraints: [{type: custom, expression: default 7}]}
"""


class TestOneManifestForTwoCommands:
    """A program parses a project once: https://docs.getdbt.com/reference/programmatic-invocations."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"kept.sql": IN_ITS_OWN, "new.sql": IN_ITS_OWN, "schema.yml": DECLARED}

    def test_a_run_does_not_change_what_is_configured(self, project, table, spark):
        kept = table("kept")
        spark.sql(f"create table {kept.name} using parquet as select 1 as id")
        manifest = dbtRunner().invoke(["parse", *folders(project)]).result
        before = {name: node.config.to_dict() for name, node in manifest.nodes.items()}
        runner = dbtRunner(manifest=manifest)
        assert runner.invoke(["run", *folders(project)]).success
        assert kept.rows() == [(1,), (2,)]
        assert before == {name: node.config.to_dict() for name, node in manifest.nodes.items()}
        assert runner.invoke(["run", "--full-refresh", *folders(project)]).success
        assert kept.rows() == [(2,)]
        assert spark.sql(f"describe detail {kept.name}").head().format == "delta"


def folders(project) -> list[str]:
    return ["--project-dir", str(project.project_root), "--profiles-dir", str(project.profiles_dir)]
