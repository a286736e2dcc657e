{#
  dbt-spark's MERGE, with quoted names, with lists of columns if the source lacks some of them, and with the clauses
  of dbt-databricks.

  `dest_columns`: none if a MERGE may write `*` (`Write.can_merge_all`). Otherwise the table's columns, each with
  `name`, `quoted`, `in_source` and `merged_sql(source_alias)`, the value that a clause writes. A column that the source
  lacks keeps its value in an updated row, and is null in an inserted row.

  A project can replace this macro and `get_merge_update_columns`. If it does, the source has only checked values
  (`PreparedWrite.is_merge_replaced`). Otherwise `_deltawiden_merge_into_sql` is called without a dispatch.
#}
{% macro deltawiden__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %}
  {%- set updated = get_merge_update_columns(
      config.get('merge_update_columns'), config.get('merge_exclude_columns'),
      adapter.get_columns_in_relation(target) if dest_columns is none else dest_columns) -%}
  {{ _deltawiden_merge_into_sql(target, source, unique_key, dest_columns, incremental_predicates, updated) }}
{% endmacro %}


{#- `updated`: the quoted columns to update, or none for all that the source has. -#}
{% macro _deltawiden_merge_into_sql(target, source, unique_key, dest_columns, incremental_predicates, updated) %}
  {%- set clauses = adapter.merge_clauses(config, target) -%}
  {%- set conditions = [] -%}
  {%- for predicate in incremental_predicates or [] -%}
    {%- do conditions.append('(' ~ predicate ~ '\n)') -%}
  {%- endfor -%}
  {%- set keys = ([unique_key] if unique_key is string else (unique_key or [])) | select | list -%}
  {%- for key in keys -%}
    {%- set in_source = clauses.source ~ '.' ~ adapter.quote_once(key) -%}
    {%- set in_target = clauses.target ~ '.' ~ adapter.quote_once(key) -%}
    {#- As in dbt-adapters 1.24, and only for a key that is no list. -#}
    {%- if unique_key is string and get_merge_unique_key_match is defined -%}
      {%- do conditions.append(get_merge_unique_key_match(in_source, in_target) | trim) -%}
    {%- else -%}
      {%- do conditions.append(in_source ~ ' = ' ~ in_target) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if not keys -%}
    {%- do conditions.append('FALSE') -%}
  {%- endif -%}

  merge into {{ target }} as {{ clauses.target }}
      using {{ source }} as {{ clauses.source }}
      on {{ conditions | join(' and ') }}
  {%- if not clauses.skip_matched_step %}

      when matched {{ _deltawiden_clause_condition(clauses.matched_condition) -}}
      then update set {{ _deltawiden_update_sql(dest_columns, updated, clauses.source) }}
  {%- endif -%}
  {%- if not clauses.skip_not_matched_step %}

      when not matched {{ _deltawiden_clause_condition(clauses.not_matched_condition) -}}
      then insert {{ _deltawiden_insert_sql(dest_columns, clauses.source) }}
  {%- endif -%}
  {%- if clauses.not_matched_by_source_action %}

      when not matched by source {{ _deltawiden_clause_condition(clauses.not_matched_by_source_condition) -}}
      then {{ clauses.not_matched_by_source_action }}
  {%- endif %}
{% endmacro %}


{#- The closing bracket is on the next line, because a condition may end with a comment. -#}
{% macro _deltawiden_clause_condition(condition) -%}
  {%- if condition -%}
    and ({{ condition }}
    ){{ ' ' }}
  {%- endif -%}
{%- endmacro %}


{% macro _deltawiden_update_sql(dest_columns, updated, source_alias) %}
  {%- if dest_columns is none and updated is none -%}
    *
  {%- else -%}
    {%- set values = {} -%}
    {%- for column in dest_columns or [] if column.in_source -%}
      {%- do values.update({column.quoted: column.merged_sql(source_alias)}) -%}
    {%- endfor -%}
    {%- for name in (values if updated is none else updated) -%}
      {#- A name that is not a column's is the path of a field in a struct. -#}
      {{ name }} = {{ values.get(name, source_alias ~ '.' ~ name) }}{{ ', ' if not loop.last }}
    {%- endfor -%}
  {%- endif -%}
{% endmacro %}


{% macro _deltawiden_insert_sql(dest_columns, source_alias) %}
  {%- if dest_columns is none -%}
    *
  {%- else -%}
    ({{ dest_columns | map(attribute='quoted') | join(', ') }}) values (
    {%- for column in dest_columns -%}
      {{ column.merged_sql(source_alias) }}{{ ', ' if not loop.last }}
    {%- endfor -%})
  {%- endif -%}
{% endmacro %}
