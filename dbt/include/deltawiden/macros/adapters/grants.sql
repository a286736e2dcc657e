{#- dbt-spark inserts the privilege into the statement without a check. -#}
{% macro deltawiden__get_grant_sql(relation, privilege, grantees) -%}
    grant {{ _deltawiden_privilege(privilege) }} on {{ relation }} to {{ adapter.quote(grantees[0]) }}
{%- endmacro %}


{% macro deltawiden__get_revoke_sql(relation, privilege, grantees) -%}
    revoke {{ _deltawiden_privilege(privilege) }} on {{ relation }} from {{ adapter.quote(grantees[0]) }}
{%- endmacro %}


{% macro _deltawiden_privilege(name) %}
  {%- if not modules.re.fullmatch('[A-Za-z_]+( [A-Za-z_]+)*', name) -%}
    {% do exceptions.raise_compiler_error("grants: got '" ~ name ~ "'; accepted: the name of a privilege, such as select") %}
  {%- endif -%}
  {% do return(name) %}
{% endmacro %}
