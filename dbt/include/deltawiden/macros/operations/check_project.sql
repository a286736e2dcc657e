{% macro check_project(compiled=false, output='text') %}
  {%- do adapter.operations(context).run('check_project', kwargs, {'compiled': compiled, 'output': output}) -%}
{% endmacro %}
