{#
  Show what the next dbt run will do to the tables of the target: the statements that will run, and the refusals. It
  changes nothing.

    dbt run-operation plan
#}
{% macro plan(models=none, compiled=false, output='text', file=none) %}
  {%- set outputs = ['text', 'json', 'markdown', 'html'] -%}
  {%- do _deltawiden_check_arguments(plan, kwargs, output, {'compiled': compiled}, outputs) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set page = operations.page_file('plan', file) if output == 'html' -%}
  {%- do _deltawiden_show_page(operations, operations.plan(models, compiled), output, page) -%}
{% endmacro %}
