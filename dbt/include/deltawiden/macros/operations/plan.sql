{#
  Show what the next dbt run will do to the tables of the target: the statements that will run, and the refusals. It
  changes nothing.

    dbt run-operation plan
#}
{% macro plan(models=none, compiled=false, output='text') %}
  {%- set outputs = ['text', 'json', 'markdown'] -%}
  {%- do _deltawiden_check_arguments(plan, kwargs, output, {'compiled': compiled}, outputs) -%}
  {%- do _deltawiden_show(adapter.operations(context).plan(models, compiled), output) -%}
{% endmacro %}
