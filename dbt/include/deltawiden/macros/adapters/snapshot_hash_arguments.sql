{#-
  Render the id of a snapshot's version. It is dbt-spark's, except for a key of several columns that has `|`, `~` or an
  empty text: with dbt-spark's, ('x|y', 'z') and ('x', 'y|z') have one id, and the end of one row ends the other's version.
-#}
{% macro deltawiden__snapshot_hash_arguments(args) -%}
  {%- set texts = [] -%}
  {%- for arg in args -%}
    {%- set text = 'cast(' ~ arg ~ ' as string)' -%}
    {%- if args | length > 2 -%}
      {%- set text = 'if(' ~ text ~ " = '', '~e', replace(replace(" ~ text ~ ", '~', '~~'), '|', '~|'))" -%}
    {%- endif -%}
    {%- do texts.append('coalesce(' ~ text ~ ", '')") -%}
  {%- endfor -%}
  md5({{ texts | join(" || '|' || ") }})
{%- endmacro %}
