"""Macros of a project that render a statement run, and what they write is checked."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.functional.support import dbt, needs_delta_4

CONFIG = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='ignore', MORE) }}
"""
MODEL = (
    CONFIG
    + """
{% if is_incremental() %} select explode(array(1, 2)) as id, {{ var('v') }} as v, 5 as w
{% else %} select 1 as id, 1 as v, 1 as w {% endif %}
"""
)
# Values that the adapter's own MERGE checks in its clauses: v is inserted, and not updated; or no
# row is inserted.
MODELS = {
    "updated.sql": MODEL.replace("MORE", "merge_update_columns=['w']"),
    "conditioned.sql": MODEL.replace("MORE", "matched_condition='true'"),
    # Without a macro of the project, a model can have only one of the two.
    "both.sql": MODEL.replace("MORE", "merge_update_columns='v', merge_exclude_columns='w'"),
}
MERGE = """
{%% macro %sget_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %%}
  {%% set columns = adapter.get_columns_in_relation(source) %%}
  merge into {{ target }} as t using {{ source.include(schema=false) }} as s
  on t.id = s.{{ columns[0].name }}
  when matched then update set v = s.v
  when not matched then insert (id, v, w) values (s.id, s.v, -1)
{%% endmacro %%}
"""
COLUMNS = """
{%% macro %sget_merge_update_columns(merge_update_columns, merge_exclude_columns, dest_columns) %%}
  {{ return(['v']) }}
{%% endmacro %%}
"""
MERGED = [(1, 7, 1), (2, 7, -1)]
UPDATED = [(1, 7, 1), (2, 7, 5)]


class TestMergeOfTheProject:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.mark.parametrize(
        ("macro", "expected"),
        [
            (MERGE % "", MERGED),
            (COLUMNS % "", UPDATED),
            pytest.param(MERGE % "spark__", MERGED, marks=pytest.mark.slow),
            pytest.param(MERGE % "deltawiden__", MERGED, marks=pytest.mark.slow),
            pytest.param(COLUMNS % "spark__", UPDATED, marks=pytest.mark.slow),
            pytest.param(COLUMNS % "deltawiden__", UPDATED, marks=pytest.mark.slow),
        ],
        ids=lambda value: (
            value.split(" %}")[0].split("macro ")[-1].split("(")[0]
            if isinstance(value, str)
            else ""
        ),
    )
    def test_runs_and_its_values_are_checked(self, project, table, macro, expected):
        Path(project.project_root, "macros", "own.sql").write_text("")
        dbt("run", "--full-refresh", v="1")
        Path(project.project_root, "macros", "own.sql").write_text(macro)
        run = dbt("run", v="7.9D")
        for model in ("updated", "conditioned"):
            assert "the value 7.9 (double) for the column v" in run.message(model)
            assert table(model).rows() == [(1, 1, 1)]
        run = dbt("run", v="7.0D")
        # Without the macro, the first run refuses this model.
        assert run.status("both") == "success", run.message("both")
        for model in ("updated", "conditioned"):
            assert run.status(model) == "success", run.message(model)
            assert table(model).rows() == expected


PACKAGE = "{name: merges, version: '1.0', config-version: 2}"


@pytest.mark.slow
class TestMergeOfAPackage:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def packages(self):
        return {"packages": [{"local": "merges"}]}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"dispatch": [{"macro_namespace": "dbt", "search_order": ["test", "merges", "dbt"]}]}

    def test_that_dispatch_prefers_runs_and_its_values_are_checked(self, project, table):
        package = Path(project.project_root, "merges")
        (package / "macros").mkdir(parents=True)
        (package / "dbt_project.yml").write_text(PACKAGE)
        (package / "macros" / "own.sql").write_text(MERGE % "spark__")
        dbt("deps")
        dbt("run", v="1")
        run = dbt("run", v="7.9D")
        assert "the value 7.9 (double) for the column v" in run.message("updated")
        run = dbt("run", v="7.0D")
        assert run.status("updated") == "success", run.message("updated")
        assert table("updated").rows() == MERGED


CALLS_DBT = """
{% macro get_incremental_again_sql(arg_dict) %}
  {{ return(get_incremental_merge_sql(arg_dict)) }}
{% endmacro %}
"""


class TestStrategyThatCallsTheMergeOfDbt:
    @pytest.fixture(scope="class")
    def models(self):
        model = MODEL.replace("MORE", "merge_update_columns=['v']")
        return {"again.sql": model.replace("'merge'", "'again'")}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"again.sql": CALLS_DBT}

    @pytest.mark.slow
    def test_runs_and_its_values_are_checked(self, project, table):
        dbt("run", v="1")
        run = dbt("run", v="7.9D")
        assert "the value 7.9 (double) for the column v" in run.message("again")
        run = dbt("run", v="7.0D")
        assert run.status("again") == "success", run.message("again")
        assert table("again").rows() == UPDATED


OUTSIDE = """
{% macro dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format) %}
  {{ return('merge' if raw_strategy == 'append' and config.get('unique_key') else raw_strategy) }}
{% endmacro %}
{% macro backup(name) %}
  {% set copy = api.Relation.create(schema=target.schema, identifier=name) %}
  {% do run_query('drop table if exists ' ~ copy) %}
  {% do run_query(create_table_as(false, copy, 'select 1 as id')) %}
{% endmacro %}
"""
DROPPED = """
{{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
  pre_hook="{% if flags.FULL_REFRESH %}drop table if exists {{ this }}{% endif %}") }}
select 1 as id
"""


class TestMacrosAroundATable:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"on-run-start": "{{ backup('of_start') }}"}

    @pytest.fixture(scope="class")
    def models(self):
        keyed = "{{ config(materialized='incremental', unique_key='id') }} select 1 as id"
        return {"keyed.sql": keyed, "dropped.sql": DROPPED}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"outside.sql": OUTSIDE}

    def test_another_strategy_of_the_validation_is_an_error(self, project, table, spark):
        run = dbt("run", "--select", "keyed")
        message = run.message("keyed")
        assert "of the project returns merge for the strategy append" in message
        assert "Configure incremental_strategy: merge for the model" in message
        assert not spark.catalog.tableExists(table("keyed").name)

    def test_a_table_is_created_outside_of_a_node(self, project, table):
        dbt("run-operation", "backup", "--args", "{name: of_operation}")
        for name in ("of_start", "of_operation"):
            assert table(name).rows() == [(1,)]

    def test_a_hook_can_drop_the_table_that_a_full_refresh_replaces(self, project, table):
        for options in ((), (), ("--full-refresh",)):
            run = dbt("run", "--select", "dropped", *options)
            assert run.status("dropped") == "success", run.message("dropped")
        assert table("dropped").rows() == [(1,)]


OWN_FORMATS = """
{% macro dbt_spark_validate_get_file_format(file_format) %}{{ return(file_format) }}{% endmacro %}
{% macro dbt_spark_validate_get_incremental_strategy(strategy, file_format) %}
  {{ return(strategy) }}
{% endmacro %}
{% macro spark__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %}
  insert into {{ target }} select id, v + 1 as v from {{ source.include(schema=false) }}
{% endmacro %}
"""
OF_FORMAT = """
{{{{ config(materialized='incremental', incremental_strategy='{}', file_format='{}',
          options={{'rowTag': 'row'}}) }}}}
select 1 as id, 2 as v
"""


@needs_delta_4  # With Spark 4, which can write XML.
class TestFormatsOfTheProject:
    @pytest.fixture(scope="class")
    def models(self):
        # dbt-spark accepts neither.
        return {
            "appended.sql": OF_FORMAT.format("append", "xml"),
            "merged.sql": OF_FORMAT.format("merge", "parquet"),
        }

    @pytest.fixture(scope="class")
    def macros(self):
        return {"own.sql": OWN_FORMATS}

    def test_have_the_strategies_that_its_macros_accept(self, project, table):
        for _ in range(2):
            run = dbt("run")
            assert run.status("appended") == "success", run.message("appended")
            assert run.status("merged") == "success", run.message("merged")
            assert "does not check which values file_format xml stores" in run.output
        assert table("appended").rows() == [(1, 2), (1, 2)]
        assert table("merged").rows() == [(1, 2), (1, 3)]


OWN_MICROBATCH = """
{% macro get_incremental_microbatch_sql(arg_dict) %}
  insert into {{ arg_dict['target_relation'] }} (id, v)
  select id, v from {{ arg_dict['temp_relation'] }}
{% endmacro %}
"""
EVENTS = """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='at',
          begin='2024-01-01', batch_size='day') }}
select 1 as id, {{ var('v', 1) }} as v, timestamp_ntz'2024-01-01 10:00:00' as at
"""


class TestMicrobatchOfTheProject:
    @pytest.fixture(scope="class")
    def models(self):
        return {"events.sql": EVENTS}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"own.sql": OWN_MICROBATCH}

    def test_runs_without_batches_and_its_values_are_checked(self, project, table):
        dbt("run")
        run = dbt("run", v="7.9D")
        assert "the value 7.9 (double) for the column v" in run.message("events")
        run = dbt("run", v="7.0D")
        assert run.status("events") == "success", run.message("events")
        assert table("events").rows("id", "v") == [(1, 1), (1, 7)]


SNAPSHOT = """
{% snapshot versions %}
{{ config(unique_key='id', strategy='check', check_cols=['v']) }}
select {{ var('v') }} as v, {{ var('id', 1) }} as id, cast(1 as decimal(8,2)) as rate
{% endsnapshot %}
"""
STAGING = """
{% macro spark__snapshot_staging_table(strategy, source_sql, target_relation) -%}
  select * except (rate), cast(rate as decimal(10,4)) + {{ var('added') }} as rate
  from ({{ default__snapshot_staging_table(strategy, source_sql, target_relation) }})
{%- endmacro %}
"""


class TestStagingTableOfTheProject:
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"staging.sql": STAGING}

    @pytest.mark.slow
    def test_is_used_and_its_values_are_checked(self, project, table):
        dbt("snapshot", v=1, added="0BD")
        run = dbt("snapshot", v=2, added="0.0067BD")
        assert "the value 1.0067 (decimal" in run.message("versions")
        assert table("versions").rows("v", "rate", "dbt_valid_to is null") == [(1, 1, True)]
        run = dbt("snapshot", v=2, added="0.5BD")
        assert run.status("versions") == "success", run.message("versions")
        found = table("versions").rows("v", "cast(rate as string)", "dbt_valid_to is null")
        assert found == [(1, "1.00", False), (2, "1.50", True)]


RUNS_ANOTHER = """
{% macro MACRO %}
  {%- do run_query('insert into ' ~ model.schema ~ '.audit values (1)') -%}
  {%- if 'bigint' not in adapter.get_columns_in_relation(target) | map(attribute='dtype') -%}
    {% do run_query('create or replace table ' ~ target ~ ' using delta as '
        ~ 'select * except (v), cast(v as bigint) as v from ' ~ target) %}
  {%- endif %}
  {{ dbt.deltawiden__MACRO }}
{% endmacro %}
"""
OF_MERGE = "get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates)"
OF_SNAPSHOT = "snapshot_merge_sql(target, source, insert_cols)"


class MergeAndSnapshot:
    @pytest.fixture(scope="class")
    def models(self):
        return {"updated.sql": MODELS["updated.sql"].replace("'ignore'", "'append_new_columns'")}

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"versions.sql": SNAPSHOT}


class TestAMacroOfTheProjectThatRunsAStatement(MergeAndSnapshot):
    """Meanwhile another writer changes a type of the table, so that its MERGE writes nothing."""

    @pytest.mark.parametrize(("name", "macro"), [("updated", OF_MERGE), ("versions", OF_SNAPSHOT)])
    def test_is_not_run_again(self, project, table, spark: SparkSession, name, macro):
        own = Path(project.project_root, "macros", "own.sql")
        own.write_text("")
        dbt("build", "-s", name, v=1)
        spark.sql(f"create or replace table {project.test_schema}.audit (n int) using delta")
        own.write_text(RUNS_ANOTHER.replace("MACRO", macro))
        run = dbt("build", "-s", name, v=2)
        assert table("audit").rows() == [(1,)], run.output
        assert "[TABLE_TYPES_CHANGED]" in run.message(name)


WRITES_NOTHING_BEFORE = """
{% macro another_writer() %}
  {%- if 'bigint' not in adapter.get_columns_in_relation(this) | map(attribute='dtype') -%}
    {% do run_query('create or replace table ' ~ this ~ ' using delta as '
        ~ 'select * except (v), cast(v as bigint) as v from ' ~ this) %}
  {%- endif %}
{% endmacro %}
{% macro get_merge_update_columns(merge_update_columns, merge_exclude_columns, dest_columns) %}
  {%- do another_writer() -%}
  {{ return(['w']) }}
{% endmacro %}
{% macro create_table_as(temporary, relation, compiled_code, language='sql') %}
  {%- if model.resource_type == 'snapshot' and temporary %}{% do another_writer() %}{% endif -%}
  {{ dbt.create_table_as(temporary, relation, compiled_code, language) }}
{% endmacro %}
{% macro snapshot_get_time() %}{{ dbt.snapshot_get_time() }}{% endmacro %}
{% macro post_snapshot(staging_relation) %}
  {%- do run_query('insert into ' ~ model.schema ~ '.audit select 1 + count(*) from '
      ~ staging_relation) -%}
{% endmacro %}
"""


class TestMacrosOfTheProjectThatWriteNothingBefore(MergeAndSnapshot):
    @pytest.mark.parametrize("name", ["updated", "versions"])
    def test_are_run_again(self, project, table, spark: SparkSession, name):
        own = Path(project.project_root, "macros", "own.sql")
        own.write_text("")
        dbt("build", "-s", name, v=1)
        spark.sql(f"create or replace table {project.test_schema}.audit (n int) using delta")
        own.write_text(WRITES_NOTHING_BEFORE)
        run = dbt("build", "-s", name, v=2)
        assert run.status(name) == "success", run.output
        assert table(name).types["v"] == "bigint"
        assert table("audit").rows() == ([(1,)] if name == "versions" else [])


OWN_CREATE = """
{% macro PREFIXcreate_csv_table(model, agate_table) %}
  {% do run_query('create table ' ~ this ~ ' (id int, v int) using delta comment "own"') %}
{% endmacro %}
"""
OWN_LOAD = """
{% macro load_csv_rows(model, agate_table) %}
  {% do run_query('insert into ' ~ this ~ ' values (1, 7.9D)') %}
{% endmacro %}
"""


class TestSeedMacrosOfTheProject:
    @pytest.fixture(scope="class")
    def seeds(self):
        types = "{version: 2, seeds: [{name: codes, config: {column_types: {v: int}}}]}"
        return {"codes.csv": "id,v\n1,7.9\n", "seeds.yml": types}

    @pytest.mark.parametrize("own", [OWN_CREATE.replace("PREFIX", ""), OWN_LOAD])
    def test_one_of_them_still_leaves_the_check(self, project, table, own):
        Path(project.project_root, "macros", "own.sql").write_text(own)
        run = dbt("seed")
        assert "line 2, column v: '7.9' is not stored exactly as int" in run.message("codes")

    def test_both_of_them_are_named(self, project, table, spark: SparkSession):
        own = OWN_CREATE.replace("PREFIX", "spark__") + OWN_LOAD
        Path(project.project_root, "macros", "own.sql").write_text(own)
        spark.sql(f"drop table if exists {table('codes').name}")
        run = dbt("--warn-error", "seed")
        assert "create_csv_table and load_csv_rows of the project" in run.message("codes")
        assert not spark.catalog.tableExists(table("codes").name)
        for _ in range(2):
            run = dbt("seed")
            assert run.status("codes") == "success", run.message("codes")
            assert table("codes").rows() == [(1, 7)]
            detail = spark.sql(f"describe detail {table('codes').name}").first()
            assert detail.description == "own"
