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


{#- Show the results of an operation that has a page. With `output: html`, also write the page to a file. -#}
{% macro _deltawiden_show_page(operations, results, output, page) %}
  {%- if output == 'html' -%}
    {% do log('The page is in ' ~ operations.write_page(results, page), info=True) %}
  {%- endif -%}
  {%- do _deltawiden_show(results, output) -%}
{% endmacro %}
