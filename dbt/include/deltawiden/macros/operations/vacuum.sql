{#
  Delete the files that tables no longer need, and say which time travel this ends.

    dbt run-operation vacuum --args '{schema: shop, dry_run: true}'
#}
{% macro vacuum(
    models=none, relations=none, schema=none, retention_hours=none, force=false, dry_run=false, output='text') %}
  {%- do _deltawiden_check_arguments(vacuum, kwargs, output, {'dry_run': dry_run, 'force': force}) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set tables = operations.select('vacuum', models, relations, schema) -%}
  {%- do _deltawiden_show(operations.vacuum(tables, retention_hours, force, dry_run), output) -%}
{% endmacro %}
