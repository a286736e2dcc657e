{#
  dbt-spark's snapshot materialization, with a plan before the write.

  This adapter has its own materialization because dbt-spark's compares the source with a table that has narrower
  types. A value that the table can't store differs at each run, so that each run adds a new version of its row.
#}
{% materialization snapshot, adapter='deltawiden' %}
  {%- set own = adapter.spark_materialization(context, 'snapshot') -%}
  {%- if own is not none -%}{{ return(own()) }}{%- endif -%}

  {%- set target_table = model.get('alias', model.get('name')) -%}
  {%- set grant_config = config.get('grants') -%}

  {% set target_relation_exists, target_relation = get_or_create_relation(
          database=model.database or none, schema=model.schema, identifier=target_table, type='table') -%}

  {%- do _deltawiden_check_snapshot_format(config.get('file_format'), target_relation_exists, target_relation) -%}

  {% if not adapter.check_schema_exists(model.database or none, model.schema) %}
    {% do create_schema(target_relation.without_identifier()) %}
  {% endif %}

  {%- if not target_relation.is_table -%}
    {% do exceptions.relation_wrong_type(target_relation, 'table') %}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {#- Other strategies than timestamp can ask for the time of the run. -#}
  {%- do adapter.services().snapshots.read_times(model.unique_id, target_relation, columns)
      if target_relation_exists and config.get('strategy') != 'timestamp' -%}
  {% set strategy_macro = strategy_dispatch(config.get('strategy')) %}
  {% set strategy = strategy_macro(model, "snapshotted_data", "source_data", model['config'], target_relation_exists) %}
  {% set build_sql = build_snapshot_table(strategy, model['compiled_code']) %}

  {% if not target_relation_exists %}
    {%- set query = adapter.services().snapshots.with_timestamps(build_sql, columns, config) -%}
    {% call statement('main') %}
      {{ create_table_as(False, target_relation, adapter.services().new_tables.checked_query(context, query, target_relation)) }}
    {% endcall %}
  {% else %}
    {#- dbt ignores the case of the other names only. -#}
    {%- do adapter.assert_valid_snapshot_target_given_strategy(
        target_relation, dict(columns, dbt_is_deleted=columns.dbt_is_deleted | lower), strategy) -%}
    {%- do adapter.services().writes.write_snapshot(context, build_sql, target_relation, columns,
        adapter.get_hard_deletes_behavior(config), strategy, _deltawiden_run_snapshot_write) -%}
    {%- do post_snapshot(api.Relation.create(identifier=adapter.temporary_view(model), type='view')) -%}
  {% endif %}

  {% set should_revoke = should_revoke(target_relation_exists, full_refresh_mode=False) %}
  {% do apply_grants(target_relation, grant_config, should_revoke) %}

  {% do persist_docs(target_relation, model, for_relation=target_relation_exists) %}

  {% do adapter.services().optimize_after_run(context, target_relation) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}

  {{ adapter.commit() }}

  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target_relation]}) }}

{% endmaterialization %}


{#- Create the staging view, and run the MERGE that reads it. The adapter has already run the plan. -#}
{% macro _deltawiden_run_snapshot_write(plan, strategy, target_relation, columns) %}
  {%- set source = _deltawiden_snapshot_source(plan, columns.values() | map('lower') | list) -%}
  {%- set strategy = _deltawiden_snapshot_strategy(plan, strategy, source) -%}
  {%- set compared = _deltawiden_snapshot_compared(plan, target_relation, columns) -%}
  {%- set staging = _deltawiden_snapshot_staging(strategy, source, compared) -%}
  {%- set rows = adapter.services().snapshots.staged_rows_sql(context, staging, target_relation, plan) -%}
  {%- set inserted, undeleted, wanted = [], [], '' -%}
  {%- for column in plan.write.columns -%}
    {%- do inserted.append(column.quoted) if column.in_source -%}
    {#- The snapshot had `hard_deletes: new_record` before. With a null, dbt would record no deletion if it had it again. -#}
    {%- do undeleted.append(column.quoted) if not column.in_source and column.name | lower == columns.dbt_is_deleted | lower -%}
  {%- endfor -%}
  {%- if flags.EMPTY -%}
    {%- set wanted = ' limit 0' -%}
  {%- elif invocation_args_dict.get('sample') -%}
    {#- A row that the query lacks is not deleted: dbt has left it out. -#}
    {%- set wanted = " where dbt_change_type = 'update' or (dbt_change_type = 'insert'"
        ~ (' and ' ~ columns.dbt_is_deleted ~ " = 'False'" if strategy.hard_deletes == 'new_record' else '') ~ ')' -%}
  {%- endif -%}
  {%- if wanted or undeleted -%}
    {%- set rows = '(select *' ~ (", 'False' as " ~ undeleted[0] if undeleted else '') ~ ' from ' ~ rows ~ wanted ~ ')' -%}
  {%- endif -%}
  {%- call statement('main') -%}
    {{ snapshot_merge_sql(target_relation, rows, inserted + undeleted) }}
  {%- endcall -%}
  {%- do adapter.drop_relation(compared) if compared is not sameas target_relation -%}
{% endmacro %}


{#-
  Return the relation that dbt compares with. Its macros know the texts 'True' and 'False' alone, and dbt-databricks
  has made tables with booleans.
-#}
{% macro _deltawiden_snapshot_compared(plan, target_relation, columns) %}
  {%- set selected, booleans = [], [] -%}
  {%- for column in plan.write.columns -%}
    {%- if column.name | lower == columns.dbt_is_deleted | lower and column.type.typeName() == 'boolean' -%}
      {%- do booleans.append(column) -%}
      {%- do selected.append('initcap(string(' ~ column.quoted ~ ')) as ' ~ column.quoted) -%}
    {%- else -%}
      {%- do selected.append(column.quoted) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if not booleans -%}{% do return(target_relation) %}{%- endif -%}
  {%- set view = api.Relation.create(identifier=adapter.temporary_view(model) ~ '_compared', type='view') -%}
  {% do run_query(create_table_as(True, view, 'select ' ~ selected | join(', ') ~ ' from ' ~ target_relation)) %}
  {% do return(view) %}
{% endmacro %}


{#-
  dbt-spark creates a view in the snapshot's schema, which stays there if the snapshot fails, and which two runs at the
  same time replace for each other.
-#}
{% macro _deltawiden_snapshot_staging(strategy, source, target_relation) %}
  {%- set view = api.Relation.create(identifier=adapter.temporary_view(model), type='view') -%}
  {%- call statement('build_snapshot_staging_relation') -%}
    {{ create_table_as(True, view, snapshot_staging_table(strategy, source, target_relation)) }}
  {%- endcall -%}
  {% do return(view) %}
{% endmacro %}


{#-
  Return the strategy again if columns were renamed (it is none), or if names are spelled in another way than in the
  table. dbt's macros do not ignore case: they would take a column for a new one, and each row for a changed one.
-#}
{% macro _deltawiden_snapshot_strategy(plan, strategy, source) %}
  {#- The adapter has spelled `check_cols` as the table does; `model` has them as they were configured. -#}
  {%- if strategy is not none and plan.write.has_table_names
      and config.get('check_cols') == model['config'].get('check_cols') -%}
    {% do return(strategy) %}
  {%- endif -%}
  {%- set strategy_macro = strategy_dispatch(config.get('strategy')) -%}
  {%- set node = dict(model, compiled_code=source) -%}
  {% do return(strategy_macro(node, 'snapshotted_data', 'source_data', model['config'], true)) %}
{% endmacro %}


{#-
  Return the model's query, with the table's names, and with nested fields in the table's order and types so that they
  can be compared.
-#}
{% macro _deltawiden_snapshot_source(plan, own_columns) %}
  {%- if plan.write.is_as_is and plan.write.has_table_names -%}
    {% do return(model['compiled_code']) %}
  {%- endif -%}
  {%- set selected = [] -%}
  {%- for column in plan.write.columns if column.in_source and column.name | lower not in own_columns -%}
    {%- do selected.append(column.named_sql) -%}
  {%- endfor -%}
  {#- The query is on its own line, because it may end with a comment. -#}
  {% do return('select ' ~ selected | join(', ') ~ ' from (\n' ~ model['compiled_code'] ~ '\n)') %}
{% endmacro %}


{#-
  dbt-spark's MERGE with a list of columns, because `*` fails if the source lacks a column of the table.

  A new version matches no row. dbt makes its id of the key and `updated_at`, so a row that comes back with the
  `updated_at` of an older version has that version's id. A match would drop it. A row with a null in its key is the
  exception: dbt finds no version of it, and says in each run that it is new. If it has not changed, its id (and its
  checked values) find its version, which `ignore` alone leaves open.
-#}
{% macro deltawiden__snapshot_merge_sql(target, source, insert_cols) -%}
  {%- set own = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {{ adapter.services().snapshot_merge_sql(config, own, target, source, insert_cols, adapter.get_hard_deletes_behavior(config)) }}
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
