{#
  Python models: a temporary view of the session holds the model's data frame. Format, properties, partitions,
  location, plan and write are then the same as for a SQL model that selects from this view. The adapter's
  post_model_hook drops the view.

  Only a materialization itself can run Python in dbt, so each materialization has its own statement for it.
#}

{#- The model's code comes first, so that line numbers in its errors match the model's file. -#}
{% macro _deltawiden_python_code() -%}
{{ compiled_code }}
dbt_create_view(model(dbtObj(dbt_table), spark))
{%- endmacro %}


{#- Return the query for a model's rows, for a SQL model or a Python model. -#}
{% macro _deltawiden_model_query() -%}
  {%- if model['language'] == 'python' -%}
    {% do return('select * from ' ~ adapter.quote(adapter.temporary_view(model, of_data_frame=true))) %}
  {%- endif -%}
  {% do return(compiled_code) %}
{%- endmacro %}
