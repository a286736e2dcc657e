{% macro repair_statistics(models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do adapter.operations(context).run('repair_statistics', kwargs, {
    'models': models, 'relations': relations, 'schema': schema, 'dry_run': dry_run, 'output': output}) -%}
{% endmacro %}
