{% macro restore_values(models=none, columns=none, unique_key=none, where=none, compiled=false, dry_run=false, output='text') %}
  {%- do adapter.operations(context).run('restore_values', kwargs, {
    'models': models, 'columns': columns, 'unique_key': unique_key, 'where': where, 'compiled': compiled,
    'dry_run': dry_run, 'output': output}) -%}
{% endmacro %}
