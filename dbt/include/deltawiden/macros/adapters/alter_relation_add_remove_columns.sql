{#-
  dbt-spark's does not quote names, and drops no column, which Delta does under column mapping (and refuses
  otherwise, saying how to allow it).
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
