{#- Check the values before the table is dropped: the seed fails if a column would change one of them. -#}
{% macro deltawiden__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
  {%- do adapter.check_seed(model, agate_table, _deltawiden_seed_types(model, agate_table)) -%}
  {#- It creates the table by `create_csv_table`, which need not check the values again. -#}
  {%- set checked = dict(model, _deltawiden_is_checked=true) -%}
  {% do return(spark__reset_csv_table(checked, full_refresh, old_relation, agate_table)) %}
{% endmacro %}


{% macro deltawiden__create_csv_table(model, agate_table) %}
  {%- if not model.get('_deltawiden_is_checked') -%}
    {%- do adapter.check_seed(model, agate_table, _deltawiden_seed_types(model, agate_table)) -%}
  {%- endif -%}
  {% do return(spark__create_csv_table(model, agate_table)) %}
{% endmacro %}


{% macro _deltawiden_seed_types(model, agate_table) %}
  {%- set configured = model['config'].get('column_types', {}) -%}
  {%- set types = {} -%}
  {%- for name in agate_table.column_names -%}
    {%- do types.update({name: configured.get(name, adapter.convert_type(agate_table, loop.index0))}) -%}
  {%- endfor -%}
  {% do return(types) %}
{% endmacro %}


{#-
  dbt-spark's macro determines the type of a column again for each value, and reads all of the column's values
  each time. This takes minutes for a seed with about ten thousand rows.
-#}
{% macro deltawiden__load_csv_rows(model, agate_table) %}
  {%- set values = [] -%}
  {%- for type in _deltawiden_seed_types(model, agate_table).values() -%}
    {%- do values.append('cast(' ~ get_binding_char() ~ ' as ' ~ type ~ ')') -%}
  {%- endfor -%}
  {%- set row_sql = '(' ~ values | join(', ') ~ ')' -%}

  {%- set statements = [] -%}
  {%- for chunk in adapter.seed_values(model, agate_table) | batch(get_batch_size()) -%}
    {%- set bindings = [] -%}
    {%- for row in chunk -%}
      {%- do bindings.extend(row) -%}
    {%- endfor -%}
    {%- set sql = 'insert into ' ~ this.render() ~ ' values ' ~ ([row_sql] * (chunk | length)) | join(', ') -%}
    {%- do adapter.add_query(sql, bindings=bindings, abridge_sql_log=True) -%}
    {%- do statements.append(sql) -%}
  {%- endfor -%}

  {#- dbt writes the returned statement to the compiled files. -#}
  {% do return(statements[0]) %}
{% endmacro %}
