{#
  dbt-spark's MERGE, with quoted names, and with lists of columns if the source lacks some of them.

  `dest_columns`: none if the source has every column of the table. Otherwise the table's columns, each with `name`,
  `quoted`, `in_source` and `insert_sql`, the value for an inserted row. A column that the source lacks keeps its
  value in an updated row, and is null in an inserted row.
#}
{% macro deltawiden__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %}
  {%- set predicates = [] if incremental_predicates is none else [] + incremental_predicates -%}
  {%- set keys = ([unique_key] if unique_key is string else (unique_key or [])) | select | list -%}
  {%- for key in keys -%}
    {%- set name = adapter.quote_once(key) -%}
    {%- do predicates.append('DBT_INTERNAL_SOURCE.' ~ name ~ ' = DBT_INTERNAL_DEST.' ~ name) -%}
  {%- endfor -%}
  {%- if not keys -%}
    {%- do predicates.append('FALSE') -%}
  {%- endif -%}

  merge into {{ target }} as DBT_INTERNAL_DEST
      using {{ source }} as DBT_INTERNAL_SOURCE
      on {{ predicates | join(' and ') }}

      when matched then update set {{ _deltawiden_update_sql(target, dest_columns) }}

      when not matched then insert {{ _deltawiden_insert_sql(dest_columns) }}
{% endmacro %}


{% macro _deltawiden_update_sql(target, dest_columns) %}
  {%- set only = config.get('merge_update_columns') -%}
  {%- set except = config.get('merge_exclude_columns') -%}
  {%- if dest_columns is none and not only and not except -%}
    *
  {%- else -%}
    {%- set columns = adapter.get_columns_in_relation(target) if dest_columns is none else dest_columns -%}
    {%- set chosen = get_merge_update_columns(only, except, columns) -%}
    {%- if chosen is none -%}
      {%- set chosen = columns | selectattr('in_source') | map(attribute='quoted') -%}
    {%- endif -%}
    {%- for name in chosen -%}
      {{ name }} = DBT_INTERNAL_SOURCE.{{ name }}{{ ', ' if not loop.last }}
    {%- endfor -%}
  {%- endif -%}
{% endmacro %}


{% macro _deltawiden_insert_sql(dest_columns) %}
  {%- if dest_columns is none -%}
    *
  {%- else -%}
    ({{ dest_columns | map(attribute='quoted') | join(', ') }}) values (
    {%- for column in dest_columns -%}
      {{ column.insert_sql }}{{ ', ' if not loop.last }}
    {%- endfor -%})
  {%- endif -%}
{% endmacro %}
