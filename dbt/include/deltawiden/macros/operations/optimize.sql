{#
  Compact the files of tables, and order their rows by columns if asked to.

    dbt run-operation optimize --args '{schema: shop}'
#}
{% macro optimize(
    models=none, relations=none, schema=none, zorder_by=none, where=none, dry_run=false, output='text') %}
  {%- do _deltawiden_check_arguments(optimize, kwargs, output, {'dry_run': dry_run}) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set tables = operations.select('optimize', models, relations, schema) -%}
  {%- do _deltawiden_show(operations.optimize(tables, zorder_by, where, dry_run), output) -%}
{% endmacro %}
