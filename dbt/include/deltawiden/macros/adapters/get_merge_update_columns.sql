{#-
  The columns that a merge updates in a row that is there, quoted; none where nothing is configured.

  dbt-spark's takes a name in backticks for another column than it is, and passes over one that is misspelt.
-#}
{% macro deltawiden__get_merge_update_columns(merge_update_columns, merge_exclude_columns, dest_columns) %}
  {%- if merge_update_columns and merge_exclude_columns -%}
    {% do exceptions.raise_compiler_error(
      'Model cannot specify merge_update_columns and merge_exclude_columns. Please update model to use only one config') %}
  {%- endif -%}
  {#- What the model lacks can't be updated, but may well be excluded. dbt's own columns do not say. -#}
  {%- set in_source = dest_columns | rejectattr('in_source', 'sameas', false) | list -%}
  {%- if merge_update_columns -%}
    {% do return(_deltawiden_named_columns('merge_update_columns', merge_update_columns, in_source)) %}
  {%- elif merge_exclude_columns -%}
    {%- set excluded = _deltawiden_named_columns('merge_exclude_columns', merge_exclude_columns, dest_columns) -%}
    {% do return(in_source | map(attribute='quoted') | reject('in', excluded) | list) %}
  {%- endif -%}
  {% do return(none) %}
{% endmacro %}


{% macro _deltawiden_named_columns(key, names, columns) %}
  {%- set quoted = {} -%}
  {%- for column in columns -%}
    {%- do quoted.update({column.column | lower: column.quoted}) -%}
  {%- endfor -%}
  {%- set found = [] -%}
  {%- for name in ([names] if names is string else names) -%}
    {%- set path = adapter.read_name(name) -%}
    {%- if path[0] | lower not in quoted -%}
      {% do exceptions.raise_compiler_error(
        key ~ ': there is no column ' ~ name ~ '; there are ' ~ columns | map(attribute='column') | join(', ')) %}
    {%- endif -%}
    {#- A path names a field, which a merge can set by itself. -#}
    {%- do found.append(quoted[path[0] | lower] if path | length == 1 else adapter.quote_once(name)) -%}
  {%- endfor -%}
  {% do return(found) %}
{% endmacro %}
