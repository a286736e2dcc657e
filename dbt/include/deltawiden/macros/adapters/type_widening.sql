{#- Return the statement that enables type widening on a table. -#}
{% macro _deltawiden_set_type_widening_sql(relation, enabled) %}
    {{ relation.enable_type_widening_sql() }}
{% endmacro %}
