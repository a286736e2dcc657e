{% macro drop_type_widening(
    models=none, relations=none, schema=none, truncate_history=false, dry_run=false, output='text') %}
  {%- do adapter.operations(context).run('drop_type_widening', kwargs, {
    'models': models, 'relations': relations, 'schema': schema, 'truncate_history': truncate_history,
    'dry_run': dry_run, 'output': output}) -%}
{% endmacro %}
