{#
  dbt-spark's incremental materialization, with a plan before the write.

  It is owned, not dispatched to, because dbt-spark's falls back to another on_schema_change when the
  configured one is misspelt, does not look at the schemas under `ignore`, names its temporary view so
  that two schemas share it, and leaves no way to add the type changes to the answer of the write.
#}
{% materialization incremental, adapter='deltawiden', supported_languages=['sql', 'python'] -%}

  {%- set file_format = dbt_spark_validate_get_file_format(config.get('file_format', default='delta')) -%}
  {%- set strategy = _deltawiden_strategy(config.get('incremental_strategy') or 'append', file_format) -%}
  {%- set grant_config = config.get('grants') -%}
  {#- dbt's cache keeps what is returned: a later batch of this run has to know what the table is. -#}
  {%- set target_relation = this.incorporate(
      type='table', is_delta=(file_format == 'delta'), is_iceberg=(file_format == 'iceberg'), is_hudi=(file_format == 'hudi')) -%}
  {%- set existing_relation = load_relation(this) -%}
  {%- set full_refresh_mode = should_full_refresh() -%}

  {%- set replaces_partitions = strategy == 'insert_overwrite' or (strategy == 'microbatch' and file_format != 'delta') -%}
  {%- if replaces_partitions and config.get('partition_by') -%}
    {%- call statement() -%}
      set spark.sql.sources.partitionOverwriteMode = DYNAMIC
    {%- endcall -%}
  {%- endif -%}

  {{ run_hooks(pre_hooks) }}

  {%- if model['language'] == 'python' -%}
    {%- call statement('python_model', language='python') -%}
      {{ _deltawiden_python_code() }}
    {%- endcall -%}
  {%- endif -%}

  {%- if existing_relation is none or existing_relation.is_view or full_refresh_mode -%}
    {%- do _deltawiden_create_table(existing_relation, target_relation, file_format) -%}
  {%- else -%}
    {%- do _deltawiden_check_partitions(strategy, existing_relation) -%}
    {%- set plan = adapter.retry_on_conflict(
        target_relation, _deltawiden_write_to_table, existing_relation, target_relation, strategy) -%}
    {%- do adapter.run_after_write(plan, model['unique_id']) -%}
  {%- endif -%}

  {% set should_revoke = should_revoke(existing_relation, full_refresh_mode) %}
  {% do apply_grants(target_relation, grant_config, should_revoke) %}

  {% do persist_docs(target_relation, model) %}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}

{%- endmaterialization %}


{#- One of dbt-spark's strategies, checked, or one that the project has a macro for. -#}
{% macro _deltawiden_strategy(strategy, file_format) %}
  {%- set has_macro = ('get_incremental_' ~ strategy | replace('+', '_') ~ '_sql') in context -%}
  {%- if has_macro and strategy not in ['append', 'merge', 'insert_overwrite', 'microbatch', 'delete+insert'] -%}
    {% do return(strategy) %}
  {%- endif -%}
  {% do return(dbt_spark_validate_get_incremental_strategy(strategy, file_format)) %}
{% endmacro %}


{% macro _deltawiden_create_table(existing_relation, target_relation, file_format) %}

  {%- do _deltawiden_check_views(_deltawiden_model_query()) -%}
  {%- set replaces_delta = existing_relation is not none and existing_relation.is_delta -%}
  {#- Replacing a table forgets its properties: one that follows the table must be given back. -#}
  {%- set follows_table = replaces_delta and config.get('type_widening') is none
      and adapter.has_type_widening(existing_relation) -%}

  {%- if existing_relation is not none and not (file_format == 'delta' and replaces_delta) -%}
    {% do adapter.drop_relation(existing_relation) %}
  {%- endif -%}

  {%- call statement('main') -%}
    {{ create_table_as(False, target_relation, adapter.with_partitions_checked(_deltawiden_model_query(), target_relation, config)) }}
  {%- endcall -%}

  {%- if follows_table -%}
    {% do run_query(deltawiden__set_type_widening_sql(target_relation, true)) %}
  {%- endif -%}

  {% do persist_constraints(target_relation, model) %}

{% endmacro %}


{% macro _deltawiden_check_partitions(strategy, existing_relation) %}
  {%- if strategy == 'microbatch' and not existing_relation.is_delta and not config.get('partition_by') -%}
    {% do exceptions.raise_compiler_error(
      "The 'microbatch' incremental strategy requires a `partition_by` config for a table that is not Delta's: a column "
      ~ 'that is of grain ' ~ config.get('batch_size') ~ '. With `file_format: delta` it needs none.') %}
  {%- endif -%}
{% endmacro %}


{#- All that another writer's commit may make wrong: the view too, whose columns have the types of the tables it reads. -#}
{% macro _deltawiden_write_to_table(attempts, existing_relation, target_relation, strategy) %}

  {%- set tmp_identifier = adapter.session_view(model) -%}
  {%- set tmp_relation = this.incorporate(path={'identifier': tmp_identifier}).include(database=false, schema=false) -%}
  {%- set query = _deltawiden_model_query() -%}
  {%- if config.get('contract').enforced -%}
    {{ get_assert_columns_equivalent(query) }}
    {%- set query = get_select_subquery(query) -%}
  {%- endif -%}
  {#- The metastore and the table's log are asked while Spark analyses the model's query. -#}
  {%- set table_schema = adapter.prefetch_schema(existing_relation) -%}
  {%- call statement('create_tmp_relation') -%}
    {{ create_table_as(True, tmp_relation, query) }}
  {%- endcall -%}
  {%- do _deltawiden_check_views(query) -%}

  {%- set plan = adapter.plan_schema_changes(tmp_relation, existing_relation, table_schema, config, query) -%}
  {%- set plan = attempts.record_plan(plan) -%}
  {%- if strategy == 'merge' -%}
    {%- do _deltawiden_check_unique_key(plan) -%}
  {%- endif -%}
  {%- set batch = none -%}
  {%- if strategy == 'microbatch' -%}
    {%- set batch = adapter.read_batch(plan, config, model.batch) -%}
    {%- do _deltawiden_check_batch(tmp_relation, target_relation, existing_relation, batch) -%}
  {%- endif -%}
  {%- do _deltawiden_follow_plan(plan) -%}
  {%- if plan.new and not existing_relation.is_delta -%}
    {#- Spark keeps what it has read of the files of such a table, its columns included. -#}
    {%- do run_query('refresh table ' ~ target_relation) -%}
  {%- endif -%}
  {%- if strategy not in ['append', 'merge', 'insert_overwrite', 'microbatch'] -%}
    {#- The statements of a strategy of the project's own are not known: the first may have written. -#}
    {%- do attempts.make_last() -%}
  {%- endif -%}

  {%- call statement('main') -%}
    {{ deltawiden__get_incremental_sql(strategy, tmp_relation, target_relation, existing_relation, plan, batch) }}
  {%- endcall -%}

  {%- do _deltawiden_tell_changes(plan) -%}

{% endmacro %}


{#- Warn before the first change: under --warn-error a warning stops the run. -#}
{% macro _deltawiden_follow_plan(plan) %}
  {%- for warning in adapter.warnings(plan, config) -%}
    {% do exceptions.warn(warning) %}
  {%- endfor -%}
  {%- do adapter.run_schema_changes(plan, model['unique_id']) -%}
  {%- set changes = adapter.schema_changes_text(plan) -%}
  {%- if changes -%}
    {% do log(changes, info=True) %}
  {%- endif -%}
  {%- if plan.changes -%}
    {%- do adapter.tell_stale_views([plan.table], graph) -%}
  {%- endif -%}
{% endmacro %}


{#- Add the type changes to the answer of the write, which dbt keeps in run_results.json. -#}
{% macro _deltawiden_tell_changes(plan) %}
  {%- set written = load_result('main') -%}
  {%- do store_result('main', response=adapter.response_with_changes(written['response'], plan), agate_table=written['table']) -%}
{% endmacro %}
