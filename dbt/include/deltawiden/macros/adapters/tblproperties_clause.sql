{#-
  Render the model's tblproperties, the property for `type_widening: true`, and the properties for the table
  features that the model's types need. Delta adds these features to a new table, but not to a replaced one.
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
