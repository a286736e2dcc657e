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
    {#- Spark sorts distinct values by nothing else than themselves, and here only texts. -#}
    {%- set by = modules.re.fullmatch(
        '(?is)order\\s+by\\s+(.+?)(\\s+asc|\\s+desc)?(\\s+nulls\\s+(first|last))?', order_by_clause | trim) -%}
    {%- if by and _deltawiden_is_same_column(distinct[1], by[1]) -%}
      {%- set is_ascending = (by[2] or 'asc') | trim | lower == 'asc' -%}
      {%- set sorted = 'sort_array(collect_set(' ~ distinct[1] ~ '), ' ~ is_ascending | lower ~ ')' -%}
      {%- set sorted = 'slice(' ~ sorted ~ ', 1, ' ~ limit_num ~ ')' if limit_num else sorted -%}
      {% do return('array_join(' ~ sorted ~ ', ' ~ delimiter_text ~ ')') %}
    {%- elif limit_num -%}
      {% do return(spark__listagg(measure, delimiter_text, order_by_clause, limit_num)) %}
    {%- endif -%}
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


{#- Whether two expressions have one text, perhaps one of them in brackets, or with the name of its table. -#}
{% macro _deltawiden_is_same_column(first, second) %}
  {%- set texts, names = [], [] -%}
  {%- for each in [first, second] -%}
    {%- set text = modules.re.sub('^\\(([^()]*)\\)$', '\\1', each | trim) | trim | lower -%}
    {%- do texts.append(text) -%}
    {%- do names.append(modules.re.sub('^(?:\\w+\\.)+(\\w+)$', '\\1', text)) -%}
  {%- endfor -%}
  {% do return(texts[0] == texts[1] or texts[0] == names[1] or names[0] == texts[1]) %}
{% endmacro %}
