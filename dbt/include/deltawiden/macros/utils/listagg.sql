{#- dbt-spark's macro ignores the order. Spark supports it since 4.0. -#}
{% macro deltawiden__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- set ordered = adapter.services().ordered_listagg(measure, delimiter_text, order_by_clause, limit_num)
      if order_by_clause and adapter.has_spark(4) -%}
  {% do return(ordered or spark__listagg(measure, delimiter_text, order_by_clause, limit_num)) %}
{%- endmacro %}
