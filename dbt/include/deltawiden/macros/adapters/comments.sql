{#-
  Descriptions as comments. dbt-spark's macros do not escape a backslash before a quote, and do not quote columns.
-#}
{% macro deltawiden__comment_clause() %}
  {%- set persist_docs = config.get('persist_docs', {}) -%}
  {%- if persist_docs is not mapping -%}
    {% do exceptions.raise_compiler_error(
      "Invalid value provided for 'persist_docs'. Expected dict but got value: " ~ persist_docs) %}
  {%- endif -%}
  {%- if persist_docs.get('relation', false) %}
    comment {{ adapter.literal_sql(model.description) }}
  {%- endif %}
{%- endmacro %}


{% macro _deltawiden_commented_columns(names) %}
  {%- for name in names -%}
    {%- set description = model.columns.get(name, {}).get('description') -%}
    {{ adapter.quote(name) }}{{ ' comment ' ~ adapter.literal_sql(description) if description }}{{ ', ' if not loop.last }}
  {%- endfor -%}
{% endmacro %}


{#-
  A CREATE TABLE AS SELECT can't have comments on columns: Spark's "Schema may not be specified". So the comments are
  set after it. Spark 4 sets those of a Delta table in one statement, which is one commit.
  https://spark.apache.org/docs/latest/sql-ref-syntax-ddl-alter-table.html#alter-or-change-column
-#}
{% macro deltawiden__alter_column_comment(relation, column_dict) %}
  {%- set file_format = config.get('file_format', validator=validation.any[basestring]) -%}
  {%- if file_format == 'delta' and column_dict | length > 1 and adapter.has_spark(4) -%}
    {#- Names that differ in case only are one column, and one statement can't change a column twice. -#}
    {%- set comments = {} -%}
    {%- for name, column in column_dict.items() -%}
      {%- do comments.update({name | lower: adapter.quote(name) ~ ' comment ' ~ adapter.literal_sql(column['description'])}) -%}
    {%- endfor -%}
    {% do run_query('alter table ' ~ relation ~ ' alter column ' ~ comments.values() | join(', ')) %}
  {%- elif file_format in ['delta', 'hudi', 'iceberg'] -%}
    {%- for name, column in column_dict.items() -%}
      {% do run_query('alter table ' ~ relation ~ (' alter' if relation.is_iceberg else ' change') ~ ' column '
        ~ adapter.quote(name) ~ ' comment ' ~ adapter.literal_sql(column['description'])) %}
    {%- endfor -%}
  {%- endif -%}
{% endmacro %}
