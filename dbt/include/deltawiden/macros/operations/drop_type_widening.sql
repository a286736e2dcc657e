{#
  Remove the table feature of type widening, and rewrite every data file that still has an older type.

    dbt run-operation drop_type_widening --args '{relations: [shop.orders], truncate_history: true}'
#}
{% macro drop_type_widening(
    models=none, relations=none, schema=none, truncate_history=false, dry_run=false, output='text') %}
  {%- set booleans = {'dry_run': dry_run, 'truncate_history': truncate_history} -%}
  {%- do _deltawiden_check_arguments(drop_type_widening, kwargs, output, booleans) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set tables = operations.select('drop_type_widening', models, relations, schema) -%}
  {%- do _deltawiden_show(operations.drop_type_widening(tables, truncate_history, dry_run), output) -%}
{% endmacro %}
