{#- The history of a Delta table can't be selected from, so the adapter reads it. -#}
{% macro deltawiden__get_relation_last_modified(information_schema, relations) %}
  {% do return(adapter.services().last_modified(relations)) %}
{% endmacro %}
