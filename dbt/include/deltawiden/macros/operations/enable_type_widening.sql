{#
  Turn type widening on, after listing the readers that lose access to the tables.

    dbt run-operation enable_type_widening --args '{schema: shop, dry_run: true}'
#}
{% macro enable_type_widening(models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do _deltawiden_check_arguments(enable_type_widening, kwargs, output, {'dry_run': dry_run}) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set tables = operations.select('enable_type_widening', models, relations, schema) -%}
  {%- set switches = operations.plan_enable(tables) -%}
  {%- set readers = operations.readers_lost_text(switches) -%}
  {%- if readers -%}
    {% do log('enable_type_widening\n' ~ readers, info=True) %}
  {%- endif -%}
  {%- do _deltawiden_show(operations.enable_type_widening(switches, dry_run), output) -%}
{% endmacro %}
