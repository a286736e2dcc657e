{#
  Names of three parts: `database` is a catalog of Spark. Without one, each statement is dbt-spark's.
#}

{#- dbt-spark ignores the configuration, because its relations have no catalog. -#}
{% macro deltawiden__generate_database_name(custom_database_name=none, node=none) -%}
  {% do return(custom_database_name or target.database or none) %}
{%- endmacro %}


{% macro deltawiden__list_schemas(database) -%}
  {%- if not database -%}
    {% do return(spark__list_schemas(database)) %}
  {%- endif -%}
  {% do return(run_query('show databases in ' ~ adapter.quote_once(database))) %}
{%- endmacro %}
