{#
  Python models: a temporary view of the session holds the model's data frame. Format, properties, partitions,
  location, plan and write are then the same as for a SQL model that selects from this view. The adapter's
  post_model_hook drops the view.

  Only a materialization itself can run Python in dbt, so each materialization has its own statement for it.
#}

{#- The model's code comes first, so that line numbers in its errors match the model's file. -#}
{% macro _deltawiden_python_code() -%}
{{ compiled_code }}
dbt_create_view(model(dbtObj(lambda name: dbt_table({{ _deltawiden_filtered_refs() }}.get(name, name))), spark))
{%- endmacro %}


{#- The rows of each ref in a batch: dbt gives a Python model the table's name, and its tests want that elsewhere. -#}
{% macro _deltawiden_filtered_refs() -%}
  {%- set filtered = {} -%}
  {%- for each in model.refs if model.get('batch') -%}
    {%- set names = [each.package, each.name] if each.get('package') else [each.name] -%}
    {%- set found = ref(*names, v=each.get('version')) -%}
    {%- do filtered.update({resolve_model_name(found.render()): found | string}) if found.render is defined -%}
  {%- endfor -%}
  {{ filtered | tojson }}
{%- endmacro %}


{#- Return the query for a model's rows, for a SQL model or a Python model. -#}
{% macro _deltawiden_model_query() -%}
  {%- if model['language'] == 'python' -%}
    {% do return('select * from ' ~ adapter.quote(adapter.temporary_view(model, of_data_frame=true))) %}
  {%- endif -%}
  {% do return(compiled_code) %}
{%- endmacro %}
