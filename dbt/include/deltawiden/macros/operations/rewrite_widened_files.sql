{% macro rewrite_widened_files(models=none, relations=none, schema=none, dry_run=false, output='text') %}
  {%- do adapter.operations(context).run('rewrite_widened_files', kwargs, {
    'models': models, 'relations': relations, 'schema': schema, 'dry_run': dry_run, 'output': output}) -%}
{% endmacro %}
