{#- The statement that writes a model's output to its table, by strategy. -#}
{% macro deltawiden__get_incremental_sql(strategy, source, target, existing, plan) %}
  {%- if strategy == 'append' -%}
    {{ deltawiden__insert_into_sql(source, target, existing, plan) }}
  {%- elif strategy in ['insert_overwrite', 'microbatch'] -%}
    {{ deltawiden__insert_overwrite_sql(source, target, existing, plan) }}
  {%- elif strategy == 'merge' -%}
    {{ deltawiden__merge_sql(source, target, plan) }}
  {%- else -%}
    {{ deltawiden__custom_sql(strategy, source, target, plan) }}
  {%- endif -%}
{% endmacro %}


{% macro deltawiden__merge_sql(source, target, plan) %}
    {#- No list of columns where `*` will do, which is what dbt-spark writes. -#}
    {%- set dest_columns = none if plan.write.can_merge_all else plan.write.columns -%}
    {%- set shaped_source -%}
      {%- if plan.write.is_as_is -%} {{ source }} {%- else -%}
        (select {{ plan.write.source_select_sql }} from {{ source }}) {%- endif -%}
    {%- endset -%}
    {{ get_merge_sql(target, shaped_source, config.get('unique_key'), dest_columns, deltawiden__predicates()) }}
{% endmacro %}


{#- Delta's own error for a column that is not there is "Cannot find main error class". -#}
{% macro _deltawiden_check_unique_key(plan) %}
  {%- set unique_key = config.get('unique_key') -%}
  {%- set names = plan.write.columns | selectattr('in_source') | map(attribute='name') | list -%}
  {%- set folded = names | map('lower') | list -%}
  {%- for key in ([unique_key] if unique_key is string else (unique_key or [])) -%}
    {#- What is no plain name (a path, an expression, a quoted name) is Delta's to read. -#}
    {%- if modules.re.fullmatch('\\w+', key) and key | lower not in folded -%}
      {% do exceptions.raise_compiler_error(
        'unique_key: the model has no column ' ~ key ~ '; it has ' ~ names | join(', ')) %}
    {%- endif -%}
  {%- endfor -%}
{% endmacro %}


{% macro deltawiden__predicates() %}
  {%- set predicates = config.get('predicates', none) or config.get('incremental_predicates', none) -%}
  {% do return([predicates] if predicates is string else predicates) %}
{% endmacro %}


{#-
  A strategy of the project's own, with the arguments that dbt documents for one. Its statement is not ours, so
  what it reads has the columns of the table that the model has, in the table's order at every depth.
  https://docs.getdbt.com/docs/build/incremental-strategy#custom-strategies
-#}
{% macro deltawiden__custom_sql(strategy, source, target, plan) %}
  {%- set columns = plan.write.columns | selectattr('in_source') | list -%}
  {%- set shaped = source -%}
  {%- if not plan.write.is_as_is -%}
    {%- set shaped = source.incorporate(path={'identifier': source.identifier ~ '_shaped'}) -%}
    {%- set select_sql = 'select ' ~ columns | map(attribute='select_sql') | join(', ') ~ ' from ' ~ source -%}
    {% do run_query(create_table_as(True, shaped, select_sql)) %}
  {%- endif -%}
  {%- set names = columns | map(attribute='name') | list -%}
  {%- set dest_columns = adapter.get_columns_in_relation(target) | selectattr('name', 'in', names) | list -%}
  {{ adapter.get_incremental_strategy_macro(context, strategy)({
    'target_relation': target, 'temp_relation': shaped, 'unique_key': config.get('unique_key'),
    'dest_columns': dest_columns, 'incremental_predicates': deltawiden__predicates()}) }}
{% endmacro %}


{% macro deltawiden__insert_into_sql(source, target, existing, plan) %}
    insert into table {{ target }} {{ deltawiden__column_list_sql(existing, plan) }}
    select {{ deltawiden__select_list_sql(plan) }} from {{ source }}
{% endmacro %}


{% macro deltawiden__insert_overwrite_sql(source, target, existing, plan) %}
    {%- if existing.is_iceberg %}
    insert overwrite {{ target }}
    {%- else %}
    insert overwrite table {{ target }}
    {{ partition_cols(label="partition") }}
    {%- endif %}
    {{ deltawiden__column_list_sql(existing, plan) }}
    select {{ deltawiden__select_list_sql(plan) }} from {{ source }}
{% endmacro %}


{#-
  The table's columns in the table's order, and so the fields of its structs; null for what the source no
  longer has.
-#}
{% macro deltawiden__select_list_sql(plan) %}
  {%- for column in plan.write.columns -%}
    {{ column.select_sql }}{{ ', ' if not loop.last }}
  {%- endfor -%}
{% endmacro %}


{#-
  Without a list an INSERT goes by position: a column that another writer moved after the plan would take
  another one's values, and a column that the table makes itself would have to be given.
  https://spark.apache.org/docs/latest/sql-ref-syntax-dml-insert-table.html (column_list)
-#}
{% macro deltawiden__column_list_sql(existing, plan) %}
  {%- if existing.is_delta -%}
    ({{ plan.write.columns | map(attribute='quoted') | join(', ') }})
  {%- endif -%}
{% endmacro %}
