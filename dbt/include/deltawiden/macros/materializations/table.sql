{#
  dbt-spark's table materialization, with Python models that are written in the same way as SQL models.

  This adapter has its own materialization because only a materialization can run Python.
#}
{% materialization table, adapter='deltawiden', supported_languages=['sql', 'python'] %}
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
  {%- set query = adapter.new_table_query(context, _deltawiden_model_query(), target_relation) -%}

  {#- A Delta or Iceberg table is replaced in one commit, so that readers always find a table. -#}
  {%- set is_replaced = existing_relation is not none and (
      (existing_relation.is_delta and file_format == 'delta')
      or (existing_relation.is_iceberg and file_format == 'iceberg')) -%}
  {%- if existing_relation is not none and not is_replaced -%}
    {% do _deltawiden_drop_for(query, existing_relation) %}
  {%- endif -%}

  {%- call statement('main') -%}
    {{ create_table_as(False, target_relation, query) }}
  {%- endcall -%}

  {% set should_revoke = should_revoke(existing_relation, full_refresh_mode=True) %}
  {% do apply_grants(target_relation, config.get('grants'), should_revoke) %}

  {% do persist_docs(target_relation, model) %}

  {% do persist_constraints(target_relation, model) %}

  {% do adapter.optimize_after_run(context, target_relation) %}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
