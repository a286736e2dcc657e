{#
  A Python model's data frame becomes a temporary view of the session. All that follows is as for a SQL model
  that selects from it: format, properties, partitions, location, the plan and the write. The adapter's
  post_model_hook drops the view.

  dbt lets only a materialization itself run Python, so the statement stands there.
#}

{#- The model's code comes first, so that the lines of its errors are those of its file. -#}
{% macro _deltawiden_python_code() -%}
{{ compiled_code }}
dbt_create_view(model(dbtObj(dbt_table), spark))
{%- endmacro %}


{#- The query that makes a model's rows, in whichever language the model is. -#}
{% macro _deltawiden_model_query() -%}
  {%- if model['language'] == 'python' -%}
    {% do return('select * from ' ~ adapter.quote(adapter.temporary_view(model, of_data_frame=true))) %}
  {%- endif -%}
  {% do return(compiled_code) %}
{%- endmacro %}
