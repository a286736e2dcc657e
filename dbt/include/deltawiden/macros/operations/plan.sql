{% macro plan(models=none, compiled=false, apply=false, output='text', file=none) %}
  {%- do adapter.operations(context).run('plan', kwargs, {
    'models': models, 'compiled': compiled, 'apply': apply, 'output': output, 'file': file}) -%}
{% endmacro %}
