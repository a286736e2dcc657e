{#-
  By default, Spark 4 casts the result of a view's query to the types from when the view was created. If a table was
  widened since then, the view changes its values. With this clause, the view always has the types of its query.
  https://spark.apache.org/docs/latest/sql-ref-syntax-ddl-create-view.html
-#}
{% macro deltawiden__create_view_as(relation, sql) -%}
  {%- do adapter.prepare_for_view(sql) -%}
  create or replace view {{ relation }}
  {%- if config.persist_column_docs() %}
    ({{ _deltawiden_commented_columns(get_columns_in_query(sql)) }})
  {%- endif %}
  {%- if adapter.has_spark(4) %}
    with schema type evolution
  {%- endif %}
  {{ comment_clause() }}
  {%- if config.get('contract').enforced -%}
    {{ get_assert_columns_equivalent(sql) }}
  {%- endif %}
  as
    {{ sql }}
{% endmacro %}
