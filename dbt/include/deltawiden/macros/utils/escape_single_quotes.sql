{#- dbt-spark's leaves a backslash as it is, so that the text `\` in a unit test's fixture ends no literal. -#}
{% macro deltawiden__escape_single_quotes(expression) -%}
  {%- set literal = adapter.literal_sql(expression | string) -%}
  {{ literal[1:-1] }}
{%- endmacro %}
