{#-
  dbt-spark's macro does not quote names, and can't drop columns. Delta can, if column mapping is enabled. Otherwise,
  Delta's error message says how to enable it.
-#}
{% macro deltawiden__alter_relation_add_remove_columns(relation, add_columns, remove_columns) %}
  {%- if add_columns -%}
    {%- set added = [] -%}
    {%- for column in add_columns -%}
      {%- do added.append(adapter.quote(column.name) ~ ' ' ~ column.data_type) -%}
    {%- endfor -%}
    {% do run_query('alter table ' ~ relation ~ ' add columns (' ~ added | join(', ') ~ ')') %}
  {%- endif -%}
  {%- if remove_columns -%}
    {%- set dropped = [] -%}
    {%- for column in remove_columns -%}
      {%- do dropped.append(adapter.quote(column.name)) -%}
    {%- endfor -%}
    {% do run_query('alter table ' ~ relation ~ ' drop columns (' ~ dropped | join(', ') ~ ')') %}
  {%- endif -%}
{% endmacro %}
