{#- Return the quoted columns that a merge updates in an existing row, or none if the model configures neither key. -#}
{% macro deltawiden__get_merge_update_columns(merge_update_columns, merge_exclude_columns, dest_columns) %}
  {% do return(adapter.services().merge_update_columns(merge_update_columns, merge_exclude_columns, dest_columns)) %}
{% endmacro %}
