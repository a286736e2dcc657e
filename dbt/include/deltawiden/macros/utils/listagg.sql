{#- dbt-spark's leaves out the order. Spark has one from 4.0 on: https://spark.apache.org/docs/latest/api/sql/#listagg. -#}
{% macro deltawiden__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- if not order_by_clause or not adapter.has_spark(4) -%}
    {% do return(spark__listagg(measure, delimiter_text, order_by_clause, limit_num)) %}
  {%- endif -%}
  {%- set within = ' within group (' ~ order_by_clause ~ ')' -%}
  {%- if not limit_num -%}
    {% do return('listagg(' ~ measure ~ ', ' ~ delimiter_text ~ ')' ~ within) %}
  {%- endif -%}
  {#- No limit in listagg: what it joins is split again, at characters that no text has. -#}
  {%- set mark = "'\\u0001\\u001f\\u0001'" -%}
  {% do return(
    'array_join(slice(split(listagg(' ~ measure ~ ', ' ~ mark ~ ')' ~ within ~ ', ' ~ mark ~ '), 1, '
    ~ limit_num ~ '), ' ~ delimiter_text ~ ')') %}
{%- endmacro %}
