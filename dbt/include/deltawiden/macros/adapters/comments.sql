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


{% macro deltawiden__alter_column_comment(relation, column_dict) %}
  {%- if config.get('file_format', validator=validation.any[basestring]) in ['delta', 'hudi', 'iceberg'] -%}
    {%- for name, column in column_dict.items() -%}
      {% do run_query('alter table ' ~ relation ~ (' alter' if relation.is_iceberg else ' change') ~ ' column '
        ~ adapter.quote(name) ~ ' comment ' ~ adapter.literal_sql(column['description'])) %}
    {%- endfor -%}
  {%- endif -%}
{% endmacro %}
