{#- Show the results of an operation, and raise an error if it failed on any table. -#}
{% macro _deltawiden_show(results, output) %}
  {%- if output == 'json' -%}
    {% do print(tojson(results.document)) %}
  {%- elif output == 'markdown' -%}
    {% do print(results.markdown) %}
  {%- elif results.text -%}
    {% do log(results.operation ~ '\n' ~ results.text, info=True) %}
  {%- endif -%}
  {%- if results.failed -%}
    {% do exceptions.raise_compiler_error(results.failure_text) %}
  {%- endif -%}
{% endmacro %}
