{#-
  Descriptions as comments. dbt-spark's macros do not escape a backslash before a quote, and do not quote columns.
-#}
{% macro deltawiden__comment_clause() %}
  {#- Outside of a node, it is not a mapping, but undefined. -#}
  {%- set persist_docs = config.get('persist_docs') or {} -%}
  {%- if persist_docs is not mapping -%}
    {% do exceptions.raise_compiler_error(
      "Invalid value provided for 'persist_docs'. Expected dict but got value: " ~ persist_docs) %}
  {%- endif -%}
  {%- if persist_docs.get('relation', false) %}
    comment {{ adapter.literal_sql(model.description) }}
  {%- endif %}
{%- endmacro %}


{% macro _deltawiden_commented_columns(names) %}
  {%- set described = {} -%}
  {%- for name, column in model.columns.items() -%}
    {%- do described.update({name | lower: column.get('description')}) -%}
  {%- endfor -%}
  {%- for name in names -%}
    {%- set description = described.get(name | lower) -%}
    {{ adapter.quote(name) }}{{ ' comment ' ~ adapter.literal_sql(description) if description }}{{ ', ' if not loop.last }}
  {%- endfor -%}
{% endmacro %}


{#-
  dbt-spark sets the comment of a table only when it creates it, and those of its columns in every run, which is a commit
  each time. Here a comment is set if it is not the description.
-#}
{% macro deltawiden__persist_docs(relation, model, for_relation, for_columns) %}
  {%- set file_format = config.get('file_format') -%}
  {%- set has_column_comments = file_format in ['delta', 'hudi', 'iceberg'] -%}
  {#- The tables that each run creates have the comment from their CREATE TABLE. -#}
  {%- set can_differ = for_relation and config.get('materialized') in ['incremental', 'snapshot'] -%}
  {%- set changed = adapter.services().comments.changed(
      relation.incorporate(is_delta=(file_format == 'delta')),
      model.description if can_differ and config.persist_relation_docs() else '',
      model.columns if for_columns and config.persist_column_docs() and has_column_comments else {}) -%}
  {%- if changed.description -%}
    {% do adapter.services().comments.set(relation, alter_relation_comment(relation, changed.description)) %}
  {%- endif -%}
  {%- if changed.columns -%}
    {% do alter_column_comment(relation, changed.columns) %}
  {%- endif -%}
{% endmacro %}


{% macro deltawiden__alter_relation_comment(relation, relation_comment) -%}
  comment on table {{ relation }} is {{ adapter.literal_sql(relation_comment) }}
{%- endmacro %}


{#-
  A CREATE TABLE AS SELECT can't have comments on columns: Spark's "Schema may not be specified". So the comments are
  set after it. Spark 4 sets those of a Delta table in one statement, which is one commit. A statement can't change a
  struct and its fields, so those of each depth have one.
  https://spark.apache.org/docs/latest/sql-ref-syntax-ddl-alter-table.html#alter-or-change-column
-#}
{% macro deltawiden__alter_column_comment(relation, column_dict) %}
  {%- set statements = {} -%}
  {%- for name, column in column_dict.items() -%}
    {%- set path = column.get('path_sql') or adapter.quote(name) -%}
    {%- set depth = path.split('`.`') | length if config.get('file_format') == 'delta' and adapter.has_spark(4) else loop.index -%}
    {%- do statements.setdefault(depth, []).append(path ~ ' comment ' ~ adapter.literal_sql(column['description'])) -%}
  {%- endfor -%}
  {%- for comments in statements.values() -%}
    {% do adapter.services().comments.set(relation, 'alter table ' ~ relation ~ ' alter column ' ~ comments | join(', ')) %}
  {%- endfor -%}
{% endmacro %}
