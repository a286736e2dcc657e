{#-
  The model's tblproperties, the one that `type_widening: true` asks for, and those that support the table
  features which the model's types need: Delta gives them to a new table by itself, but not to one that is
  replaced.
-#}
{% macro deltawiden__tblproperties_clause() -%}
  {%- set properties = {} -%}
  {%- if config.get('file_format', default='delta') == 'delta' -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- if existing is not none and existing.is_delta -%}
      {%- do properties.update(adapter.features_for_query(_deltawiden_model_query())) -%}
    {%- endif -%}
    {%- if config.get('type_widening') is sameas true -%}
      {%- do properties.update({'delta.enableTypeWidening': 'true'}) -%}
    {%- endif -%}
  {%- endif -%}
  {%- do properties.update(config.get('tblproperties') or {}) -%}
  {%- if properties %}
    tblproperties ({{ adapter.properties_sql(properties) }})
  {%- endif %}
{%- endmacro %}
