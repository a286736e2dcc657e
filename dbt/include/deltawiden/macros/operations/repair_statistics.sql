{#
  Correct the statistics of data files from before a column changed from float to double.

    dbt run-operation repair_statistics --args '{schema: shop}'
#}
{% macro repair_statistics(models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do _deltawiden_check_arguments(repair_statistics, kwargs, output, {'dry_run': dry_run}) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- set tables = operations.select('repair_statistics', models, relations, schema) -%}
  {%- do _deltawiden_show(operations.repair_statistics(tables, dry_run), output) -%}
{% endmacro %}
