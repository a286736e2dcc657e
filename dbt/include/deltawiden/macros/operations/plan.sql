{% macro plan(models=none, compiled=false, output='text', file=none) %}
  {%- do adapter.operations(context).run('plan', kwargs, {
    'models': models, 'compiled': compiled, 'output': output, 'file': file}) -%}
{% endmacro %}
