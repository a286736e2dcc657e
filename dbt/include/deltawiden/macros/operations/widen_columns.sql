{#
  Change the types of columns by hand, integer to decimal and double included.

    dbt run-operation widen_columns --args '{relations: [shop.orders], columns: {amount: "decimal(12,2)"}}'
#}
{% macro widen_columns(columns=none, models=none, relations=none, dry_run=false) %}
  {%- if columns is not mapping or not columns -%}
    {% do exceptions.raise_compiler_error(
      'widen_columns: `columns` must say which type each column becomes, for example '
      ~ '{amount: "decimal(12,2)"}; got ' ~ columns) %}
  {%- endif -%}

  {#- Plan for every table before the first is changed: a refusal then leaves nothing behind. -#}
  {%- set plans = [] -%}
  {%- for relation in _deltawiden_relations('widen_columns', models, relations) -%}
    {%- do plans.append(adapter.plan_widen_columns(relation, columns)) -%}
  {%- endfor -%}

  {%- for plan in plans -%}
    {%- set changes = adapter.schema_changes_text(plan) -%}
    {%- if not changes -%}
      {% do log(plan.table ~ ': has these types already', info=True) %}
    {%- elif dry_run -%}
      {% do log(changes ~ ' (dry run: nothing was changed)\n  ' ~ plan.statements | join('\n  '), info=True) %}
    {%- else -%}
      {% do adapter.run_schema_changes(plan, 'widen_columns') %}
      {% do log(changes, info=True) %}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}
