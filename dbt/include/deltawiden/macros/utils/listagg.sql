{#-
  dbt-spark's macro ignores the order. Spark supports it since 4.0:
  https://spark.apache.org/docs/latest/api/sql/#listagg
-#}
{% macro deltawiden__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- if not order_by_clause or not adapter.has_spark(4) -%}
    {% do return(spark__listagg(measure, delimiter_text, order_by_clause, limit_num)) %}
  {%- endif -%}
  {%- set distinct = modules.re.fullmatch('(?is)distinct\\b\\s*(.+)', measure | trim) -%}
  {%- if distinct -%}
    {#- Spark sorts distinct values by themselves alone, here only texts. Brackets and table names change nothing. -#}
    {%- set by = modules.re.fullmatch(
        '(?is)order\\s+by\\s+(.+?)(\\s+asc|\\s+desc)?(\\s+nulls\\s+(first|last))?', order_by_clause | trim) -%}
    {%- if by and modules.re.fullmatch(
        '(?is)[(\\s]*(\\w+\\.)*(.+?)[)\\s]*\\n[(\\s]*(\\w+\\.)*\\2[)\\s]*', distinct[1] ~ '\n' ~ by[1]) -%}
      {%- set is_ascending = (by[2] or 'asc') | trim | lower == 'asc' -%}
      {%- set sorted = 'sort_array(collect_set(' ~ distinct[1] ~ '), ' ~ is_ascending | lower ~ ')' -%}
      {%- set sorted = 'slice(' ~ sorted ~ ', 1, ' ~ limit_num ~ ')' if limit_num else sorted -%}
      {% do return('array_join(' ~ sorted ~ ', ' ~ delimiter_text ~ ')') %}
    {%- endif -%}
    {% do return(spark__listagg(measure, delimiter_text, order_by_clause, limit_num)) %}
  {%- endif -%}
  {%- set within = ' within group (' ~ order_by_clause ~ ')' -%}
  {%- if not limit_num -%}
    {#- As dbt-spark's macro, and not null, if all values are null. -#}
    {% do return('coalesce(listagg(' ~ measure ~ ', ' ~ delimiter_text ~ ')' ~ within ~ ", '')") %}
  {%- endif -%}
  {#- listagg has no limit, so split its result again at characters that do not occur in texts. -#}
  {%- set mark = "'\\u0001\\u001f\\u0001'" -%}
  {% do return(
    'coalesce(array_join(slice(split(listagg(' ~ measure ~ ', ' ~ mark ~ ')' ~ within ~ ', ' ~ mark ~ '), 1, '
    ~ limit_num ~ '), ' ~ delimiter_text ~ "), '')") %}
{%- endmacro %}
