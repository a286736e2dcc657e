{#- Render the statement that turns a table's type widening on or off. -#}
{% macro _deltawiden_set_type_widening_sql(relation, enabled) %}
    alter table {{ relation }} set tblproperties ('delta.enableTypeWidening' = '{{ 'true' if enabled else 'false' }}')
{% endmacro %}
