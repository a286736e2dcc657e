{#- The existing tables that an operation is asked to work on, by the models that make them or by name. -#}
{% macro _deltawiden_relations(operation, models, relations, schema) %}
  {%- set found = [] -%}
  {%- for name in _deltawiden_names(models) -%}
    {%- do found.append(_deltawiden_model_relation(operation, name)) -%}
  {%- endfor -%}
  {%- for name in _deltawiden_names(relations) -%}
    {%- do found.append(_deltawiden_named_relation(operation, name)) -%}
  {%- endfor -%}
  {%- if schema is not none -%}
    {%- set in_schema = adapter.tables_in_schema(schema) -%}
    {%- if not in_schema -%}
      {% do exceptions.raise_compiler_error(operation ~ ": there is no Delta table in schema '" ~ schema ~ "'") %}
    {%- endif -%}
    {%- do found.extend(in_schema) -%}
  {%- endif -%}
  {%- if not found -%}
    {% do exceptions.raise_compiler_error(
      operation ~ ': say which tables, as `models: [name]`, `relations: [schema.table]` or `schema: name`') %}
  {%- endif -%}
  {% do return(found) %}
{% endmacro %}


{% macro _deltawiden_model_relation(operation, name) %}
  {%- set node = _deltawiden_node(operation, name) -%}
  {% do return(_deltawiden_existing_relation(operation, node.schema, node.alias)) %}
{% endmacro %}


{% macro _deltawiden_node(operation, name) %}
  {%- set nodes = _deltawiden_models() | selectattr('name', 'equalto', name) | list -%}
  {%- if not nodes -%}
    {% do exceptions.raise_compiler_error(
      operation ~ ": there is no model, seed or snapshot named '" ~ name ~ "' in this project; there are: "
      ~ _deltawiden_models() | map(attribute='name') | sort | join(', ')) %}
  {%- endif -%}
  {% do return(nodes[0]) %}
{% endmacro %}


{% macro _deltawiden_named_relation(operation, name) %}
  {%- set parts = adapter.parse_name(name) -%}
  {%- if parts | length > 2 -%}
    {% do exceptions.raise_compiler_error(
      operation ~ ": '" ~ name ~ "' is not a table's name; write schema.table, or table for " ~ target.schema) %}
  {%- endif -%}
  {%- set schema = parts[0] if parts | length == 2 else target.schema -%}
  {% do return(_deltawiden_existing_relation(operation, schema, parts[-1])) %}
{% endmacro %}


{% macro _deltawiden_existing_relation(operation, schema, identifier) %}
  {%- set relation = adapter.get_relation(database=none, schema=schema, identifier=identifier) -%}
  {%- if relation is none -%}
    {% do exceptions.raise_compiler_error(
      operation ~ ": there is no table '" ~ schema ~ '.' ~ identifier ~ "'") %}
  {%- endif -%}
  {% do return(relation) %}
{% endmacro %}


{% macro _deltawiden_models() %}
  {% do return(graph.nodes.values() | selectattr('resource_type', 'in', ['model', 'snapshot', 'seed']) | list) %}
{% endmacro %}


{#- One name needs no list around it. -#}
{% macro _deltawiden_names(names) %}
  {% do return([names] if names is string else names or []) %}
{% endmacro %}
