{% macro vacuum(
    models=none, relations=none, schema=none, retention_hours=none, force=false, dry_run=false, output='text') %}
  {%- do adapter.operations(context).run('vacuum', kwargs, {
    'models': models, 'relations': relations, 'schema': schema, 'retention_hours': retention_hours, 'force': force,
    'dry_run': dry_run, 'output': output}) -%}
{% endmacro %}
