{#-
  dbt-spark's tells the type of a column anew for each value, and for that looks at all of the column's values:
  minutes for a seed of some ten thousand rows.
-#}
{% macro deltawiden__load_csv_rows(model, agate_table) %}
  {%- set configured = model['config'].get('column_types', {}) -%}
  {%- set values = [] -%}
  {%- for name in agate_table.column_names -%}
    {%- set type = configured.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
    {%- do values.append('cast(' ~ get_binding_char() ~ ' as ' ~ type ~ ')') -%}
  {%- endfor -%}
  {%- set row_sql = '(' ~ values | join(', ') ~ ')' -%}

  {%- set statements = [] -%}
  {%- for chunk in agate_table.rows | batch(get_batch_size()) -%}
    {%- set bindings = [] -%}
    {%- for row in chunk -%}
      {%- do bindings.extend(row) -%}
    {%- endfor -%}
    {%- set sql = 'insert into ' ~ this.render() ~ ' values ' ~ ([row_sql] * (chunk | length)) | join(', ') -%}
    {%- do adapter.add_query(sql, bindings=bindings, abridge_sql_log=True) -%}
    {%- do statements.append(sql) -%}
  {%- endfor -%}

  {#- dbt writes it among the compiled files. -#}
  {% do return(statements[0]) %}
{% endmacro %}
