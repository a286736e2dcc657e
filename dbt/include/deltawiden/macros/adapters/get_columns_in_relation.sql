{#-
  dbt-spark's macro returns the result of a DESCRIBE, but dbt's own macros expect columns. A snapshot with
  `hard_deletes: new_record` then records a deleted row with nulls instead of its values.
-#}
{% macro deltawiden__get_columns_in_relation(relation) -%}
  {% do return(adapter.get_columns_in_relation(relation)) %}
{%- endmacro %}
