{#-
  What `dbt run-operation` calls. The method of `Operations` with the same name declares the arguments, and
  `operations/operations.yml` describes them.
-#}
{% macro analyze() %}{% do adapter.operations(context).run('analyze', kwargs) %}{% endmacro %}
{% macro audit_lossy_writes() %}{% do adapter.operations(context).run('audit_lossy_writes', kwargs) %}{% endmacro %}
{% macro backfill_columns() %}{% do adapter.operations(context).run('backfill_columns', kwargs) %}{% endmacro %}
{% macro check_project() %}{% do adapter.operations(context).run('check_project', kwargs) %}{% endmacro %}
{% macro check_type_widening() %}{% do adapter.operations(context).run('check_type_widening', kwargs) %}{% endmacro %}
{% macro disable_type_widening() %}{% do adapter.operations(context).run('disable_type_widening', kwargs) %}{% endmacro %}
{% macro drop_type_widening() %}{% do adapter.operations(context).run('drop_type_widening', kwargs) %}{% endmacro %}
{% macro enable_type_widening() %}{% do adapter.operations(context).run('enable_type_widening', kwargs) %}{% endmacro %}
{% macro optimize() %}{% do adapter.operations(context).run('optimize', kwargs) %}{% endmacro %}
{% macro plan() %}{% do adapter.operations(context).run('plan', kwargs) %}{% endmacro %}
{% macro repair_statistics() %}{% do adapter.operations(context).run('repair_statistics', kwargs) %}{% endmacro %}
{% macro report_type_widening() %}{% do adapter.operations(context).run('report_type_widening', kwargs) %}{% endmacro %}
{% macro restore_values() %}{% do adapter.operations(context).run('restore_values', kwargs) %}{% endmacro %}
{% macro rewrite_widened_files() %}{% do adapter.operations(context).run('rewrite_widened_files', kwargs) %}{% endmacro %}
{% macro stop_spark() %}{% do adapter.operations(context).run('stop_spark', kwargs) %}{% endmacro %}
{% macro sync_contracts() %}{% do adapter.operations(context).run('sync_contracts', kwargs) %}{% endmacro %}
{% macro vacuum() %}{% do adapter.operations(context).run('vacuum', kwargs) %}{% endmacro %}
{% macro widen_columns() %}{% do adapter.operations(context).run('widen_columns', kwargs) %}{% endmacro %}
