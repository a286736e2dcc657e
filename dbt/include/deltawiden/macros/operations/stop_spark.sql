{#
  End the Spark that keep_alive keeps alive.

    dbt run-operation stop_spark
#}
{% macro stop_spark(everywhere=false, output='text') %}
  {%- do _deltawiden_check_arguments(stop_spark, kwargs, output, {'everywhere': everywhere}) -%}
  {%- do _deltawiden_show(adapter.operations(context).stop_spark(everywhere), output) -%}
{% endmacro %}
