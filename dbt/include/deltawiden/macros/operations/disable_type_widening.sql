{% macro disable_type_widening(models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do adapter.operations(context).run('disable_type_widening', kwargs, {
    'models': models, 'relations': relations, 'schema': schema, 'dry_run': dry_run, 'output': output}) -%}
{% endmacro %}
