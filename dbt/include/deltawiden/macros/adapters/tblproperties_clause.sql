{#- Render the properties of a model's table. Delta adds table features to a new table, but not to a replaced one. -#}
{% macro deltawiden__tblproperties_clause() -%}
  {#- A macro that runs outside of a node has no `this`. -#}
  {%- set existing = load_cached_relation(this) if this else none -%}
  {%- set is_replaced = existing is not none and existing.is_delta and config.get('file_format', default='delta') == 'delta' -%}
  {%- set features = adapter.services().new_tables.feature_properties(_deltawiden_model_query()) if is_replaced else {} -%}
  {#- A replaced table loses its properties. An incremental model can follow the table's type widening. -#}
  {%- set follows_table = is_replaced and config.get('materialized') == 'incremental' and config.get('type_widening') is not boolean -%}
  {%- if follows_table and adapter.services().new_tables.has_type_widening(existing) -%}
    {%- do features.update({'delta.enableTypeWidening': 'true'}) -%}
  {%- endif -%}
  {{- _deltawiden_tblproperties(features) -}}
{%- endmacro %}


{#-
  Render the configured properties, that of `type_widening: true`, those for the table features of the types, and those
  that say whose the table is, if its folder is not the metastore's choice.
-#}
{% macro _deltawiden_tblproperties(features) -%}
  {%- set properties = {} -%}
  {%- if config.get('file_format', default='delta') == 'delta' -%}
    {%- do properties.update(features) -%}
    {%- if config.get('location_root') -%}
      {%- do properties.update(adapter.services().folders.owner(this)) -%}
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
