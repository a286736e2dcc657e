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
  {%- for name, condition in adapter.services().added_checks(constraints).items() -%}
    {% do run_query('alter table ' ~ relation ~ ' add constraint ' ~ adapter.quote(name) ~ ' check (' ~ condition ~ ')') %}
  {%- endfor -%}
{% endmacro %}


{#- The query checks the constraints of columns. -#}
{% macro deltawiden__alter_column_set_constraints(relation, column_dict) %}
{% endmacro %}
