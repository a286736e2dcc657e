{#-
  dbt-spark's macro gives the answer of a DESCRIBE, where dbt's own callers want columns. A snapshot with
  `hard_deletes: new_record` then records a deleted row with nulls in place of its values.
-#}
{% macro deltawiden__get_columns_in_relation(relation) -%}
  {% do return(adapter.get_columns_in_relation(relation)) %}
{%- endmacro %}
