{#
  The MERGE of the adapter, for macros of a project that call it. A project can replace this macro and
  `get_merge_update_columns`. If it does, the source has only checked values (`ModelWrite.is_merge_replaced`).

  `dest_columns`: none if the MERGE may write `*`. Otherwise the table's columns.
#}
{% macro deltawiden__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %}
  {%- set updated = get_merge_update_columns(
      config.get('merge_update_columns'), config.get('merge_exclude_columns'),
      adapter.get_columns_in_relation(target) if dest_columns is none else dest_columns) -%}
  {{ adapter.services().writes.merge_sql(context, target, source, unique_key, dest_columns, incremental_predicates, updated) }}
{% endmacro %}
