{#
  The query that returns the rows to write checks the constraints of a contract: `writing/contract_checks.py`. Only the
  model's own checks are added to the table, as with dbt-spark.
#}

{% macro deltawiden__get_column_names() %}
  {{ adapter.services().contract_columns(model, config.get('unique_key')) }}
{% endmacro %}


{#-
  For a new table, the adapter adds the generated columns and default values that the contract declares.
-#}
{% macro deltawiden__get_select_subquery(sql) %}
  {% do return(adapter.services().new_tables.declared_query(model, default__get_select_subquery(sql))) %}
{% endmacro %}


{#- dbt-spark's macro does not quote the name that it generates from a hash. -#}
{% macro deltawiden__alter_table_add_constraints(relation, constraints) %}
  {%- for constraint in constraints -%}
    {%- if constraint.type == 'check' -%}
      {%- set name = constraint.name or 'dbt_' ~ local_md5(constraint.expression) -%}
      {% do run_query('alter table ' ~ relation ~ ' add constraint ' ~ adapter.quote(name) ~ ' check (' ~ constraint.expression ~ ')') %}
    {%- else -%}
      {%- do _deltawiden_warn_unsupported(constraint, 'the model') -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}


{#- The query checks the supported constraints. Warn about the others. -#}
{% macro deltawiden__alter_column_set_constraints(relation, column_dict) %}
  {%- for column in column_dict.values() -%}
    {%- for constraint in column['constraints'] -%}
      {%- do _deltawiden_warn_unsupported(constraint, 'column ' ~ column['name']) -%}
    {%- endfor -%}
  {%- endfor -%}
{% endmacro %}


{% macro _deltawiden_warn_unsupported(constraint, of) %}
  {#- A new table has been created with what a custom constraint declares, or not at all. -#}
  {%- set is_declared = constraint.type == 'custom'
      and ((constraint.expression or '') ~ ' ').split()[0] | lower in ['generated', 'default'] -%}
  {%- if constraint.type not in ['check', 'not_null'] and not is_declared and constraint.get('warn_unsupported', true) -%}
    {% do exceptions.warn(
      'Delta has no ' ~ constraint.type ~ ' constraint: the one of ' ~ of ~ ' is not enforced. '
      ~ 'Test it with a data test; `warn_unsupported: false` in the constraint ends this warning.') %}
  {%- endif -%}
{% endmacro %}
