{#
  Show the type widening of tables: their type changes, and what dropping the feature would need.

    dbt run-operation report_type_widening --args '{schema: shop}'
#}
{% macro report_type_widening(models=none, relations=none, schema=none, output='text', file=none) %}
  {%- do _deltawiden_check_arguments(report_type_widening, kwargs, output, outputs=['text', 'json', 'html']) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set page = operations.page_file('report_type_widening', file) if output == 'html' -%}
  {%- set tables = operations.select('report_type_widening', models, relations, schema) -%}
  {%- do _deltawiden_show_page(operations, operations.report_type_widening(tables), output, page) -%}
{% endmacro %}
