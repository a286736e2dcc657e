{#
  Rewrite the data files from before a widening in which filters of Spark can miss rows, and no other file.

    dbt run-operation rewrite_widened_files --args '{schema: shop}'
#}
{% macro rewrite_widened_files(models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do _deltawiden_check_arguments(rewrite_widened_files, kwargs, output, {'dry_run': dry_run}) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set tables = operations.select('rewrite_widened_files', models, relations, schema) -%}
  {%- do _deltawiden_show(operations.rewrite_widened_files(tables, dry_run), output) -%}
{% endmacro %}
