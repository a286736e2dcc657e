{% macro stop_spark(everywhere=false, output='text') %}
  {%- do adapter.operations(context).run('stop_spark', kwargs, {'everywhere': everywhere, 'output': output}) -%}
{% endmacro %}
