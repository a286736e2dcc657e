{% macro widen_columns(columns=none, models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do adapter.operations(context).run('widen_columns', kwargs, {
    'columns': columns, 'models': models, 'relations': relations, 'schema': schema, 'dry_run': dry_run,
    'output': output}) -%}
{% endmacro %}
