{#- dbt-spark's macro does not quote the name, and renders a subquery instead of the table under --empty. -#}
{% macro deltawiden__alter_column_type(relation, column_name, new_column_type) -%}
  {% do run_query(
    'alter table ' ~ relation.render() ~ ' alter column ' ~ adapter.quote(column_name) ~ ' type ' ~ new_column_type) %}
{%- endmacro %}
