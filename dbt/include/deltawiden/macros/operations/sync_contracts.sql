{#
  Show the types in enforced contracts that are narrower than those of the models' queries, as a diff of the YAML files.
  With `write: true`, write them.

    dbt run-operation sync_contracts
    dbt run-operation sync_contracts --args '{models: [orders], write: true}'
#}
{% macro sync_contracts(models=none, write=false, compiled=false, output='text') %}
  {%- do _deltawiden_check_arguments(sync_contracts, kwargs, output, {'write': write, 'compiled': compiled}) -%}
  {%- do _deltawiden_show(adapter.operations(context).sync_contracts(models, compiled, write), output) -%}
{% endmacro %}
