{#
  dbt-spark's snapshot materialization, with a plan before the write.

  It is owned, not dispatched to, because dbt-spark's compares the source with a table of narrower types: a
  value that the table can't hold is another one at each run, and each run makes a new version of its row.
#}
{% materialization snapshot, adapter='deltawiden' %}

  {%- set target_table = model.get('alias', model.get('name')) -%}
  {%- set grant_config = config.get('grants') -%}

  {% set target_relation_exists, target_relation = get_or_create_relation(
          database=none, schema=model.schema, identifier=target_table, type='table') -%}

  {%- do _deltawiden_check_snapshot_format(config.get('file_format'), target_relation_exists, target_relation) -%}

  {% if not adapter.check_schema_exists(model.database, model.schema) %}
    {% do create_schema(model.schema) %}
  {% endif %}

  {%- if not target_relation.is_table -%}
    {% do exceptions.relation_wrong_type(target_relation, 'table') %}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% set strategy_macro = strategy_dispatch(config.get('strategy')) %}
  {% set strategy = strategy_macro(model, "snapshotted_data", "source_data", model['config'], target_relation_exists) %}
  {%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {% set build_sql = build_snapshot_table(strategy, model['compiled_code']) %}

  {% if not target_relation_exists %}
    {%- do _deltawiden_check_views(build_sql) -%}
    {% call statement('main') %}
      {%- set with_moments = adapter.with_moments(build_sql, columns) -%}
      {{ create_table_as(False, target_relation, adapter.with_partitions_checked(with_moments, target_relation, config)) }}
    {% endcall %}
  {% else %}
    {%- do adapter.assert_valid_snapshot_target_given_strategy(target_relation, columns, strategy) -%}
    {%- do adapter.retry_on_conflict(target_relation, _deltawiden_write_snapshot, strategy, build_sql, target_relation, columns) -%}
  {% endif %}

  {% set should_revoke = should_revoke(target_relation_exists, full_refresh_mode=False) %}
  {% do apply_grants(target_relation, grant_config, should_revoke) %}

  {% do persist_docs(target_relation, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}

  {{ adapter.commit() }}

  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target_relation]}) }}

{% endmaterialization %}


{% macro _deltawiden_write_snapshot(attempts, strategy, build_sql, target_relation, columns) %}

  {%- do _deltawiden_check_views(build_sql) -%}
  {#- Before the staging view: it compares with the table as it is when the view is made. -#}
  {%- set plan = attempts.record_plan(adapter.plan_snapshot_changes(build_sql, target_relation, config)) -%}
  {%- do adapter.check_hard_deletes(plan, config, columns) -%}
  {%- do _deltawiden_follow_plan(plan) -%}

  {%- set source = _deltawiden_snapshot_source(plan, columns.values() | map('lower') | list) -%}
  {%- set staging = spark_build_snapshot_staging_table(strategy, source, target_relation) -%}
  {%- call statement('main') -%}
    {{ snapshot_merge_sql(target_relation, staging, plan.write.columns | selectattr('in_source') | map(attribute='quoted') | list) }}
  {%- endcall -%}
  {%- do _deltawiden_tell_changes(plan) -%}

  {%- do post_snapshot(staging) -%}
{% endmacro %}


{#- The model's query; its nested fields in the order and types of the table's, with which they are compared. -#}
{% macro _deltawiden_snapshot_source(plan, own_columns) %}
  {%- if plan.write.is_as_is -%}
    {% do return(model['compiled_code']) %}
  {%- endif -%}
  {%- set selected = [] -%}
  {%- for column in plan.write.columns if column.in_source and column.name | lower not in own_columns -%}
    {%- do selected.append(column.select_sql) -%}
  {%- endfor -%}
  {#- On a line of its own: the query may end in a comment. -#}
  {% do return('select ' ~ selected | join(', ') ~ ' from (\n' ~ model['compiled_code'] ~ '\n)') %}
{% endmacro %}


{#- As dbt-spark's, but for the columns: `*` does not take a source that lacks one of the table's. -#}
{% macro deltawiden__snapshot_merge_sql(target, source, insert_cols) -%}
  {%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {%- set valid_to = 'DBT_INTERNAL_DEST.' ~ columns.dbt_valid_to -%}
  {%- set current = config.get('dbt_valid_to_current') %}

  merge into {{ target }} as DBT_INTERNAL_DEST
      using {{ source }} as DBT_INTERNAL_SOURCE
      on DBT_INTERNAL_SOURCE.{{ columns.dbt_scd_id }} = DBT_INTERNAL_DEST.{{ columns.dbt_scd_id }}

      when matched and DBT_INTERNAL_SOURCE.dbt_change_type in ('update', 'delete')
        and ({{ valid_to }} is null {%- if current %} or {{ valid_to }} = {{ current }} {%- endif %})
        then update set {{ columns.dbt_valid_to }} = DBT_INTERNAL_SOURCE.{{ columns.dbt_valid_to }}

      when not matched and DBT_INTERNAL_SOURCE.dbt_change_type = 'insert'
        then insert ({{ insert_cols | join(', ') }}) values (
          {%- for column in insert_cols -%}DBT_INTERNAL_SOURCE.{{ column }}{{ ', ' if not loop.last }}{%- endfor -%})
{% endmacro %}


{% macro _deltawiden_check_snapshot_format(file_format, exists, relation) %}
  {%- set accepted = ['delta', 'iceberg', 'hudi'] -%}
  {%- if file_format not in accepted -%}
    {% do exceptions.raise_compiler_error(
      'Invalid file format: ' ~ file_format ~ '\nSnapshot functionality requires file_format be set to '
      ~ accepted | join(' or ')) %}
  {%- endif -%}
  {%- if exists and not (relation.is_delta or relation.is_iceberg or relation.is_hudi) -%}
    {% do exceptions.raise_compiler_error(
      'The existing table ' ~ relation ~ ' is in another format than ' ~ accepted | join(' or ')) %}
  {%- endif -%}
{% endmacro %}
