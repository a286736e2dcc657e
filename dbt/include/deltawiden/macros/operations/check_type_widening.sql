{% macro check_type_widening(against=none, models=none, output='text', file=none) %}
  {%- do adapter.operations(context).run('check_type_widening', kwargs, {
    'against': against, 'models': models, 'output': output, 'file': file}) -%}
{% endmacro %}
