{#
  Change the types of columns by hand, including from integer to decimal or double.

    dbt run-operation widen_columns --args '{relations: [shop.orders], columns: {amount: "decimal(12,2)"}}'
#}
{% macro widen_columns(columns=none, models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do _deltawiden_check_arguments(widen_columns, kwargs, output, {'dry_run': dry_run}) -%}
  {%- if columns is not mapping or not columns -%}
    {% do exceptions.raise_compiler_error(
      'widen_columns: `columns` must say which type each column becomes, for example '
      ~ '{amount: "decimal(12,2)"}; got ' ~ columns) %}
  {%- endif -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set tables = operations.select('widen_columns', models, relations, schema) -%}
  {%- set results = operations.widen_columns(tables, columns, dry_run) -%}
  {%- do _deltawiden_show(results, output) -%}
{% endmacro %}
