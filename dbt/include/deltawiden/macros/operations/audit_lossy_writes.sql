{% macro audit_lossy_writes(models=none, unique_key=none, compiled=false, output='text') %}
  {%- do adapter.operations(context).run('audit_lossy_writes', kwargs, {
    'models': models, 'unique_key': unique_key, 'compiled': compiled, 'output': output}) -%}
{% endmacro %}
