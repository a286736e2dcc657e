{% macro sync_contracts(models=none, write=false, compiled=false, output='text') %}
  {%- do adapter.operations(context).run('sync_contracts', kwargs, {
    'models': models, 'write': write, 'compiled': compiled, 'output': output}) -%}
{% endmacro %}
