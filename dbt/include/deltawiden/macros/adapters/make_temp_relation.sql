{#- The unit tests of two models can have one name, and the temporary views of a session have no schema. -#}
{% macro deltawiden__make_temp_relation(base_relation, suffix) %}
  {%- set own = '_' ~ local_md5(model.unique_id)[:8] if model.resource_type == 'unit_test' else '' -%}
  {% do return(spark__make_temp_relation(base_relation, suffix ~ own)) %}
{% endmacro %}
