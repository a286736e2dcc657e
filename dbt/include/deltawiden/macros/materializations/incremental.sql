{#
  dbt-spark's incremental materialization, with a plan before the write.

  This adapter has its own materialization because dbt-spark's uses the default for a misspelt on_schema_change,
  does not compare the schemas under `ignore`, uses the same name of a temporary view for two schemas, and has no
  way to add the type changes to the adapter response of the write.
#}
{% materialization incremental, adapter='deltawiden', supported_languages=['sql', 'python'] -%}
  {%- set own = adapter.spark_materialization(context, 'incremental') -%}
  {%- if own is not none -%}{{ return(own()) }}{%- endif -%}

  {%- set file_format = dbt_spark_validate_get_file_format(config.get('file_format')) -%}
  {#- The adapter has checked the strategy. dbt-spark also knows which ones a SQL warehouse can't have. -#}
  {%- set strategy = config.get('incremental_strategy') or 'append' -%}
  {%- if strategy in ['append', 'merge', 'insert_overwrite', 'microbatch'] -%}
    {%- set returned = dbt_spark_validate_get_incremental_strategy(strategy, file_format) | string | trim -%}
    {%- if returned not in ['', strategy] -%}
      {% do exceptions.raise_compiler_error('The macro dbt_spark_validate_get_incremental_strategy of the project returns '
        ~ returned ~ ' for the strategy ' ~ strategy ~ '. dbt-deltawiden checks a model before macros run, so a macro '
        ~ 'can\'t change its strategy. Nothing was written. Configure incremental_strategy: ' ~ returned ~ ' for the model.') %}
    {%- endif -%}
  {%- endif -%}
  {%- set grant_config = config.get('grants') -%}
  {%- set existing_relation = load_relation(this) -%}
  {%- set full_refresh_mode = should_full_refresh() -%}
  {%- set is_new = existing_relation is none or existing_relation.is_view or full_refresh_mode -%}
  {#- A table that dbt-spark has made, for example, has its own format, whatever the model's is. -#}
  {%- set file_format = file_format if is_new else adapter.use_format_of(config, existing_relation) -%}
  {#- dbt caches the returned relation, and a later batch of this run needs the table's format. -#}
  {%- set target_relation = this.incorporate(
      type='table', is_delta=(file_format == 'delta'), is_iceberg=(file_format == 'iceberg'), is_hudi=(file_format == 'hudi'),
      information=none if is_new else existing_relation.information) -%}

  {{ run_hooks(pre_hooks) }}

  {%- if model['language'] == 'python' -%}
    {%- call statement('python_model', language='python') -%}
      {{ _deltawiden_python_code() }}
    {%- endcall -%}
  {%- endif -%}

  {%- if is_new -%}
    {%- do _deltawiden_create_table(existing_relation, target_relation, file_format) -%}
  {%- else -%}
    {%- do adapter.services().writes.write(context, existing_relation, target_relation, _deltawiden_run_write) -%}
  {%- endif -%}

  {% set should_revoke = should_revoke(existing_relation, full_refresh_mode) %}
  {% do apply_grants(target_relation, grant_config, should_revoke) %}

  {% do persist_docs(target_relation, model, for_relation=not is_new) %}

  {% do adapter.services().optimize_after_run(context, target_relation) %}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}

{%- endmaterialization %}


{% macro _deltawiden_create_table(existing_relation, target_relation, file_format) %}

  {#- Check the query before the table is dropped, because it may be refused. -#}
  {%- set query = adapter.services().new_tables.checked_query(context, _deltawiden_model_query(), target_relation) -%}
  {#- `deltawiden__tblproperties_clause` keeps the table's type widening in the same commit. A project's macros need not. -#}
  {%- set follows_table = adapter.services().new_tables.loses_type_widening(context, existing_relation, file_format) -%}
  {%- do _deltawiden_create_or_replace(query, existing_relation, target_relation, file_format) -%}
  {%- do run_query("alter table " ~ target_relation.render()
      ~ " set tblproperties ('delta.enableTypeWidening' = 'true')") if follows_table -%}

  {% do persist_constraints(target_relation, model) %}

{% endmacro %}


{#- Return the query for the model's rows, with the columns that an enforced contract declares. -#}
{% macro _deltawiden_source_query() %}
  {%- set query = _deltawiden_model_query() -%}
  {%- if not config.get('contract').enforced -%}{% do return(query) %}{%- endif -%}
  {%- do get_assert_columns_equivalent(query) -%}
  {% do return(get_select_subquery(query)) %}
{% endmacro %}


{#- Create the temporary view of the model's rows, and return it. -#}
{% macro _deltawiden_create_source_view(query) %}
  {%- set view = this.incorporate(path={'identifier': adapter.temporary_view(model)}).include(database=false, schema=false) -%}
  {%- call statement('create_source_view') -%}
    {{ create_table_as(True, view, query) }}
  {%- endcall -%}
  {% do return(view) %}
{% endmacro %}


{#- Run the statement of a write, a `ModelWrite`. A macro of the project renders it, or the adapter does. -#}
{% macro _deltawiden_run_write(write) %}
  {%- call statement('main') -%}
    {%- if write.is_custom and not write.spec.is_empty -%}
      {{ _deltawiden_custom_sql(write) }}
    {%- elif write.is_merge_replaced and not write.spec.is_empty -%}
      {{ get_merge_sql(write.target, _deltawiden_rows(write, write.merged_query), config.get('unique_key'), write.merged_columns, (write.spec.predicates | list) or none) }}
    {%- else -%}
      {{ write.statement }}
    {%- endif -%}
  {%- endcall -%}
{% endmacro %}


{#-
  Call a project's custom strategy with the arguments that dbt documents. The adapter does not control its statement, so
  its source has checked values.
  https://docs.getdbt.com/docs/build/incremental-strategy#custom-strategies
-#}
{% macro _deltawiden_custom_sql(write) %}
  {%- set rows = _deltawiden_rows(write, write.shaped_query) -%}
  {%- set names = write.plan.write.columns | selectattr('in_source') | map(attribute='name') | list -%}
  {%- set dest_columns = adapter.get_columns_in_relation(write.target) | selectattr('name', 'in', names) | list -%}
  {{ adapter.get_incremental_strategy_macro(context, write.spec.strategy)({
    'target_relation': write.target, 'temp_relation': rows, 'unique_key': config.get('unique_key'),
    'dest_columns': dest_columns, 'incremental_predicates': (write.spec.predicates | list) or none}) }}
{% endmacro %}


{#- Create a view of a query, because a macro of the project takes a relation, and return it. -#}
{% macro _deltawiden_rows(write, query) %}
  {%- set rows = write.source.incorporate(path={'identifier': write.source.identifier ~ '_shaped'}) -%}
  {% do run_query(create_table_as(True, rows, query)) %}
  {% do return(rows) %}
{% endmacro %}
