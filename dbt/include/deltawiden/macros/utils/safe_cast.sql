{#- An array, struct or map in a unit test's fixture is an expression. dbt makes a literal of it, and dbt-spark's macro
    removes the quotes alone. -#}
{% macro deltawiden__safe_cast(field, type) %}
  {%- if execute -%}
    {%- do adapter.services().seeds.check_fixture(context, field, type) -%}
  {%- endif -%}
  {%- if field is string and cast_from_string_unsupported_for(type) -%}
    cast({{ adapter.expression_in(field) }} as {{ type }})
  {%- else -%}
    {{ spark__safe_cast(field, type) }}
  {%- endif -%}
{% endmacro %}
