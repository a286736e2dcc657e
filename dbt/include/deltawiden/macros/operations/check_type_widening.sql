{#
  Compare the incremental models built in this target's schema with their tables in another schema. Print the
  statements that a deployment will run, and fail if one is refused. Use it in CI.

    dbt run --empty --target ci
    dbt run-operation check_type_widening --target ci --args '{against: prod}'
#}
{% macro check_type_widening(against=none, models=none, output='text', file=none) %}
  {%- set outputs = ['text', 'json', 'markdown', 'html'] -%}
  {%- do _deltawiden_check_arguments(check_type_widening, kwargs, output, outputs=outputs) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set page = operations.page_file('check_type_widening', file) if output == 'html' -%}
  {%- do _deltawiden_show_page(operations, operations.check_type_widening(against, models), output, page) -%}
{% endmacro %}
