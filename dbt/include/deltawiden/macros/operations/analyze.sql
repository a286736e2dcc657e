{#
  Collect the statistics of tables' files again, for files that were written without them.

    dbt run-operation analyze --args '{schema: shop}'
#}
{% macro analyze(models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do _deltawiden_check_arguments(analyze, kwargs, output, {'dry_run': dry_run}) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set tables = operations.select('analyze', models, relations, schema) -%}
  {%- do _deltawiden_show(operations.analyze(tables, dry_run), output) -%}
{% endmacro %}
