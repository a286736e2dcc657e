{#-
  Create an SQL function in Spark 4: https://spark.apache.org/docs/latest/sql-ref-syntax-ddl-create-sql-function.html.
  dbt's default statement is for Postgres, and dbt-spark does not have its own.
-#}
{% macro deltawiden__scalar_function_create_replace_signature_sql(target_relation) %}
    {%- if model.get('overloads') -%}
      {% do exceptions.raise_compiler_error(
        'Spark has no overloads of functions: each would replace the one before. Give each a name of its own.') %}
    {%- endif -%}
    CREATE OR REPLACE FUNCTION {{ target_relation.render() }} ({{ formatted_scalar_function_args_sql() }})
    RETURNS {{ model.returns.data_type }}
    {{ scalar_function_volatility_sql() }}
    RETURN
{% endmacro %}


{% macro deltawiden__formatted_scalar_function_args_sql() %}
  {%- set arguments = [] -%}
  {%- for argument in model.arguments -%}
    {%- set default = argument.get('default_value') -%}
    {%- do arguments.append(
      adapter.quote(argument.name) ~ ' ' ~ argument.data_type ~ (' DEFAULT ' ~ default if default is not none)) -%}
  {%- endfor -%}
  {{ arguments | join(', ') }}
{% endmacro %}


{% macro deltawiden__scalar_function_body_sql() %}
    ({{ adapter.in_lines(model.compiled_code) }})
{% endmacro %}


{% macro deltawiden__scalar_function_volatility_sql() %}
  {%- set volatility = model.config.get('volatility') -%}
  {%- if volatility == 'deterministic' -%}
    DETERMINISTIC
  {%- elif volatility == 'non-deterministic' -%}
    NOT DETERMINISTIC
  {%- elif volatility is not none -%}
    {% do unsupported_volatility_warning(volatility) %}
  {%- endif -%}
{% endmacro %}
