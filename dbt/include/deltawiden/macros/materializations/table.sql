{#
  dbt-spark's table materialization, with Python models that are written in the same way as SQL models.

  This adapter has its own materialization because only a materialization can run Python.
#}
{% materialization table, adapter='deltawiden', supported_languages=['sql', 'python'] %}
  {%- set own = adapter.spark_materialization(context, 'table') -%}
  {%- if own is not none -%}{{ return(own()) }}{%- endif -%}

  {%- set file_format = config.get('file_format') -%}
  {%- set existing_relation = adapter.get_relation(database=database or none, schema=schema, identifier=model['alias']) -%}
  {%- set target_relation = api.Relation.create(
      identifier=model['alias'], schema=schema, database=database or none, type='table') -%}

  {{ run_hooks(pre_hooks) }}

  {%- if model['language'] == 'python' -%}
    {%- call statement('python_model', language='python') -%}
      {{ _deltawiden_python_code() }}
    {%- endcall -%}
  {%- endif -%}

  {#- Check the query before the table is dropped, because it may be refused. -#}
  {%- set query = adapter.services().new_tables.checked_query(context, _deltawiden_model_query(), target_relation) -%}

  {%- do _deltawiden_create_or_replace(query, existing_relation, target_relation, file_format) -%}

  {% set should_revoke = should_revoke(existing_relation, full_refresh_mode=True) %}
  {% do apply_grants(target_relation, config.get('grants'), should_revoke) %}

  {% do persist_docs(target_relation, model) %}

  {% do persist_constraints(target_relation, model) %}

  {% do adapter.services().optimize_after_run(context, target_relation) %}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{#-
  Run the CREATE TABLE of a query. A Delta or Iceberg table is replaced in one commit, so that readers always find a
  table. Another table or a view is dropped before, when a contract has accepted the query, and every check in it.
-#}
{% macro _deltawiden_create_or_replace(query, existing_relation, target_relation, file_format) %}
  {%- set is_replaced = existing_relation is not none and (
      (existing_relation.is_delta and file_format == 'delta')
      or (existing_relation.is_iceberg and file_format == 'iceberg')) -%}
  {%- if existing_relation is none or is_replaced -%}
    {% do return(_deltawiden_drop_and_create('', query, none, target_relation)) %}
  {%- endif -%}
  {% do _deltawiden_check_drop(query, existing_relation) %}
  {%- set rows = query -%}
  {%- if config.get('contract').enforced -%}
    {%- do get_assert_columns_equivalent(query) -%}
    {%- set rows = default__get_select_subquery(query) -%}
  {%- endif -%}
  {%- do adapter.services().with_rows_computed(model, rows if 'raise_error(' in rows else '',
      target_relation, _deltawiden_drop_and_create, query, existing_relation) -%}
{% endmacro %}


{#- Drop a table or view if there is one, and create a table with the rows of a query, which can be computed already. -#}
{% macro _deltawiden_drop_and_create(computed, query, existing_relation, target_relation) %}
  {%- set create_sql = create_table_as(False, target_relation, computed or query) -%}
  {%- do adapter.drop_relation(existing_relation) if existing_relation is not none -%}
  {%- do _deltawiden_fill(target_relation, _deltawiden_run_main, create_sql) -%}
{% endmacro %}


{#- Run the first statement with rows of a new table. In the mode `dynamic`, Spark would keep partitions of an earlier one. -#}
{% macro _deltawiden_fill(table, run) %}
  {%- do adapter.services().overwrite_all(table, run, *varargs) if config.get('partition_by') and _deltawiden_is_in_folder()
      else run(*varargs) -%}
{% endmacro %}


{#- Whether a new table gets a folder that can have files of an earlier one. Delta and Iceberg replace them. -#}
{% macro _deltawiden_is_in_folder() %}
  {% do return(config.get('file_format') not in ['delta', 'iceberg'] and location_clause() | trim) %}
{% endmacro %}


{% macro _deltawiden_run_main(sql) %}
  {%- call statement('main') -%}
    {{ sql }}
  {%- endcall -%}
{% endmacro %}


{#- Drop a table or view that the table or view of a query will replace. -#}
{% macro _deltawiden_drop_for(query, existing_relation) %}
  {% do _deltawiden_check_drop(query, existing_relation) %}
  {% do adapter.drop_relation(existing_relation) %}
{% endmacro %}


{#- Check that a table or view can be dropped for a query. If the query is not valid, DESCRIBE QUERY fails. -#}
{% macro _deltawiden_check_drop(query, existing_relation) %}
  {% do run_query('describe query ' ~ query) %}
  {%- if adapter.services().reads(query, existing_relation, model) -%}
    {% do exceptions.raise_compiler_error(existing_relation.render() ~ ' was not dropped, because the model reads it. This model replaces a '
      ~ existing_relation.type ~ ' that has to be dropped first. Let the model read another relation.'
      ~ (' Spark does not show what an RDD or a cached data frame reads, nor a subquery or a source without files. The code has '
      ~ 'dbt.this, so it can be this one: if it is not, return a data frame without these.' if model['language'] == 'python' else '')) %}
  {%- endif -%}
{% endmacro %}


{#- dbt drops a table that a view replaces before it renders the view, which its contract can refuse. -#}
{% macro deltawiden__handle_existing_table(full_refresh, old_relation) %}
  {% do get_create_view_as_sql(this.incorporate(type='view'), sql) %}
  {% do _deltawiden_drop_for(sql, old_relation) %}
{% endmacro %}
