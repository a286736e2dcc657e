{#
  The query that returns the rows to write checks the constraints of a contract, on every run. If a row breaks one,
  the statement fails before any row is stored, and an existing table is not replaced.

  Delta can't set a column of an existing table to NOT NULL, and a CHECK constraint on the table can prevent a
  widening. So only the model's own checks are added to the table, as with dbt-spark.
#}

{#-
  Render the columns of a contract for the SELECT around the model's query. The conditions of the model are in a column of
  the unique key, if there is one: a MERGE reads other columns only if it writes them.
-#}
{% macro deltawiden__get_column_names() %}
  {%- set key = config.get('unique_key') or [] -%}
  {%- set keys = ([key] if key is string else key) | map('replace', '`', '') | map('lower') | list -%}
  {%- set names = model['columns'].values() | map(attribute='name') | map('replace', '`', '') | map('lower') | list -%}
  {%- set checking = (names | select('in', keys) | list + names) | first -%}
  {%- for column in model['columns'].values() -%}
    {%- set name = adapter.quote(column['name']) if column.get('quote') else adapter.quote_once(column['name']) -%}
    {%- set conditions = _deltawiden_column_conditions(column, name) -%}
    {%- if column['name'] | replace('`', '') | lower == checking -%}
      {%- do conditions.extend(_deltawiden_model_conditions()) -%}
    {%- endif -%}
    {%- if conditions %}
      case
        {%- for condition, message in conditions %}
        when ({{ condition }}) is not true then raise_error({{ adapter.literal_sql(message) }})
        {%- endfor %}
        else {{ name }} end as {{ name }}
    {%- else -%}
      {{ name }}
    {%- endif -%}
    {{ ', ' if not loop.last }}
  {%- endfor -%}
{% endmacro %}


{#-
  For a new table, the adapter adds the generated columns and default values that the contract declares.
-#}
{% macro deltawiden__get_select_subquery(sql) %}
  {% do return(adapter.declared_query(model, default__get_select_subquery(sql))) %}
{% endmacro %}


{% macro _deltawiden_column_conditions(column, name) %}
  {%- set conditions = [] -%}
  {%- for constraint in column['constraints'] -%}
    {%- if constraint.type == 'not_null' -%}
      {%- do conditions.append(_deltawiden_not_null_condition(name, column['name'])) -%}
    {%- elif constraint.type == 'check' -%}
      {%- do conditions.append(_deltawiden_check_condition(constraint)) -%}
    {%- endif -%}
  {%- endfor -%}
  {% do return(conditions) %}
{% endmacro %}


{% macro _deltawiden_model_conditions() %}
  {%- set conditions = [] -%}
  {%- for constraint in model['constraints'] -%}
    {%- if constraint.type == 'check' -%}
      {%- do conditions.append(_deltawiden_check_condition(constraint)) -%}
    {%- elif constraint.type == 'not_null' -%}
      {%- for name in constraint.columns -%}
        {%- do conditions.append(_deltawiden_not_null_condition(adapter.quote_once(name), name)) -%}
      {%- endfor -%}
    {%- endif -%}
  {%- endfor -%}
  {% do return(conditions) %}
{% endmacro %}


{% macro _deltawiden_not_null_condition(quoted, name) %}
  {% do return((quoted ~ ' is not null', 'the model has a null in ' ~ name ~ ', which is not_null in its contract')) %}
{% endmacro %}


{% macro _deltawiden_check_condition(constraint) %}
  {%- set named = ' ' ~ constraint.name if constraint.name else '' -%}
  {% do return((constraint.expression, 'the model has a row that breaks the check' ~ named ~ ' of its contract: ' ~ constraint.expression)) %}
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
