{#
  Compare the incremental models built in this target's schema with their tables in another one: print the
  statements that a deployment will run, and fail on a refusal. For CI.

    dbt run --empty --target ci
    dbt run-operation check_type_widening --target ci --args '{against: prod}'
#}
{% macro check_type_widening(against=none, models=none, output='text') %}
  {%- do _deltawiden_check_arguments(check_type_widening, kwargs, output) -%}
  {%- if not against or against == target.schema -%}
    {% do exceptions.raise_compiler_error(
      'check_type_widening: `against` must name the schema to compare with, another than ' ~ target.schema) %}
  {%- endif -%}
  {%- set nodes = [] -%}
  {%- for name in _deltawiden_names(models) -%}
    {%- do nodes.append(_deltawiden_node('check_type_widening', name)) -%}
  {%- endfor -%}
  {%- if models is none -%}
    {#- In one order, whatever order dbt parsed them in: two reports can be compared. -#}
    {%- set nodes = _deltawiden_models() | selectattr('config.materialized', 'equalto', 'incremental')
      | sort(attribute='name') -%}
  {%- endif -%}
  {%- set checked = [] -%}
  {%- set schemas = [] -%}
  {%- for node in nodes -%}
    {%- do schemas.append(_deltawiden_schema_in(node, against)) -%}
    {%- do checked.append({
      'name': node.name,
      'config': node.config,
      'built': adapter.get_relation(database=none, schema=node.schema, identifier=node.alias),
      'table': adapter.get_relation(database=none, schema=schemas[-1], identifier=node.alias)
    }) -%}
  {%- endfor -%}
  {%- if checked and not checked | selectattr('table') | list -%}
    {%- do _deltawiden_one_exists(schemas | unique | list) -%}
  {%- endif -%}
  {%- do _deltawiden_tell(adapter.check_type_widening(checked), output) -%}
{% endmacro %}


{#- dbt's own rule puts a custom schema's name after the target's: ci_finance stands for prod_finance. -#}
{% macro _deltawiden_schema_in(node, against) %}
  {%- if node.schema != target.schema and not node.schema.startswith(target.schema ~ '_') -%}
    {% do exceptions.raise_compiler_error(
      'check_type_widening: the schema of ' ~ node.name ~ ', ' ~ node.schema ~ ", is not one of the target's ("
      ~ target.schema ~ '), so there is none to compare with') %}
  {%- endif -%}
  {% do return(against ~ node.schema[target.schema | length:]) %}
{% endmacro %}


{#- Where a schema's name is misspelt, or its metastore is another one, every model would pass as new. -#}
{% macro _deltawiden_one_exists(schemas) %}
  {%- for schema in schemas -%}
    {%- if adapter.check_schema_exists(none, schema) -%}{%- do return(true) -%}{%- endif -%}
  {%- endfor -%}
  {% do exceptions.raise_compiler_error(
    'check_type_widening: there is nothing to compare with: no schema ' ~ schemas | join(', ')) %}
{% endmacro %}
