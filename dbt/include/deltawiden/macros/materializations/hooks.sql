{#
  Run the hooks of a node, in the order that dbt documents: before_begin() before, and after_commit() after the others.

  Spark has no transactions. dbt runs the hooks with `transaction: false` in its snapshots and seeds only, after a
  `commit`, which Spark can't parse. This macro replaces dbt's without a dispatch, as dbt has none for it.
#}
{% macro run_hooks(hooks, inside_transaction=True) %}
  {#- A materialization that also calls this macro for the hooks outside of a transaction gets all of them from one call. -#}
  {%- for hook in hooks | sort(attribute='transaction', reverse=not (hooks is sameas pre_hooks)) if inside_transaction -%}
    {%- set sql = render(hook.get('sql')) | trim -%}
    {%- if sql -%}
      {%- call statement() -%}
        {{ sql }}
      {%- endcall -%}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}
