{#- dbt-spark's macro does not escape a backslash, so that `\` in a unit test's fixture escapes the closing quote. -#}
{% macro deltawiden__escape_single_quotes(expression) -%}
  {%- set literal = adapter.literal_sql(expression | string) -%}
  {{ literal[1:-1] }}
{%- endmacro %}
