{#- Refuse a model that reads through a view which changes values, before anything is dropped or written. -#}
{% macro _deltawiden_check_views(query) %}
  {%- set told = adapter.views_read_text(query, config, graph) -%}
  {%- if told -%}
    {% do exceptions.warn(told) %}
  {%- endif -%}
{% endmacro %}
