{#
  Compare what models produce now with what their tables store, and show the values that were rounded, cut or shifted.
  It changes nothing.

    dbt run-operation audit_lossy_writes
#}
{% macro audit_lossy_writes(models=none, unique_key=none, compiled=false, output='text') %}
  {%- do _deltawiden_check_arguments(audit_lossy_writes, kwargs, output, {'compiled': compiled}) -%}
  {%- set operations = adapter.operations(context) -%}
  {%- do _deltawiden_show(operations.audit_lossy_writes(models, unique_key, compiled), output) -%}
{% endmacro %}
