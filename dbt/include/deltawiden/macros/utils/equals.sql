{#- dbt's `case`, in place of `<=>`, would make Spark compare each row of a MERGE or snapshot with each other row. -#}
{% macro deltawiden__equals(expr1, expr2) -%}
  ({{ expr1 }} {{ '<=>' if adapter.behavior.enable_truthy_nulls_equals_macro.no_warn else '=' }} {{ expr2 }})
{%- endmacro %}
