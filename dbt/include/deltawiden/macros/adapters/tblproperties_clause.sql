{#- The model's tblproperties, and the one that `type_widening: true` asks for. -#}
{% macro deltawiden__tblproperties_clause() -%}
  {%- set properties = {} -%}
  {%- do properties.update(config.get('tblproperties') or {}) -%}
  {%- if config.get('type_widening') is sameas true and config.get('file_format', default='delta') == 'delta' -%}
    {%- do properties.update({'delta.enableTypeWidening': 'true'}) -%}
  {%- endif -%}
  {%- if properties %}
    tblproperties (
      {%- for name, value in properties.items() -%}
      '{{ name }}' = '{{ value }}'{{ ', ' if not loop.last }}
      {%- endfor -%}
    )
  {%- endif %}
{%- endmacro %}
