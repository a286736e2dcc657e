{% macro report_type_widening(models=none, relations=none, schema=none, output='text', file=none) %}
  {%- do adapter.operations(context).run('report_type_widening', kwargs, {
    'models': models, 'relations': relations, 'schema': schema, 'output': output, 'file': file}) -%}
{% endmacro %}
