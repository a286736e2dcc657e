{#
  A Python model's data frame becomes a temporary view of the session. All that follows is as for a SQL model
  that selects from it: format, properties, partitions, location, the plan and the write.

  dbt lets only a materialization itself run Python, so the statement stands there.
#}

{#- The model's code comes first, so that the lines of its errors are those of its file. -#}
{% macro _deltawiden_python_code() -%}
{{ compiled_code }}
from dbt.adapters.deltawiden.python_models import as_spark_frame
df = as_spark_frame(model(dbtObj(spark.table), spark), spark)
df.createOrReplaceTempView({{ tojson(adapter.quote(_deltawiden_python_view())) }})
{%- endmacro %}


{#- The query that makes a model's rows, in whichever language the model is. -#}
{% macro _deltawiden_model_query() -%}
  {%- if model['language'] == 'python' -%}
    {% do return('select * from ' ~ adapter.quote(_deltawiden_python_view())) %}
  {%- endif -%}
  {% do return(compiled_code) %}
{%- endmacro %}


{% macro _deltawiden_drop_python_view() -%}
  {%- if model['language'] == 'python' -%}
    {% do run_query('drop view if exists ' ~ adapter.quote(_deltawiden_python_view())) %}
  {%- endif -%}
{%- endmacro %}


{% macro _deltawiden_python_view() -%}
  {% do return(_deltawiden_session_name('__dbt_py')) %}
{%- endmacro %}


{#- One session serves all threads, so a name in it must be the model's alone in every schema. -#}
{% macro _deltawiden_session_name(suffix) -%}
  {% do return(this.identifier ~ suffix ~ '_' ~ local_md5(this.schema)[:8]) %}
{%- endmacro %}
