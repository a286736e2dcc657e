{#
  Turn type widening off. The table feature stays, and so the readers that it locks out stay locked out.

    dbt run-operation disable_type_widening --args '{relations: [shop.orders]}'
#}
{% macro disable_type_widening(models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do _deltawiden_check_arguments(disable_type_widening, kwargs, output, {'dry_run': dry_run}) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set tables = operations.select('disable_type_widening', models, relations, schema) -%}
  {%- do _deltawiden_show(operations.disable_type_widening(tables, dry_run), output) -%}
{% endmacro %}
