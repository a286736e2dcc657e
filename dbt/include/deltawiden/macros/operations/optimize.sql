{% macro optimize(
    models=none, relations=none, schema=none, zorder_by=none, where=none, dry_run=false, output='text') %}
  {%- do adapter.operations(context).run('optimize', kwargs, {
    'models': models, 'relations': relations, 'schema': schema, 'zorder_by': zorder_by, 'where': where,
    'dry_run': dry_run, 'output': output}) -%}
{% endmacro %}
