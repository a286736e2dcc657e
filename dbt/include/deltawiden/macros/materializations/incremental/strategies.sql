{#- Render the statement that writes a model's output to its table, by strategy. -#}
{% macro _deltawiden_incremental_sql(write) %}
  {%- set existing = write.existing -%}
  {%- if write.strategy == 'append' -%}
    {{ _deltawiden_insert_into_sql(write.source, write.target, existing, write.plan) }}
  {%- elif write.strategy == 'microbatch' and existing.is_delta -%}
    {{ _deltawiden_replace_batch_sql(write) }}
  {%- elif write.strategy in ['insert_overwrite', 'microbatch'] -%}
    {{ _deltawiden_insert_overwrite_sql(write.source, write.target, existing, write.plan) }}
  {%- elif write.strategy == 'merge' -%}
    {{ _deltawiden_merge_sql(write.source, write.target, write.plan) }}
  {%- else -%}
    {{ _deltawiden_custom_sql(write.strategy, write.source, write.target, write.plan) }}
  {%- endif -%}
{% endmacro %}


{% macro _deltawiden_merge_sql(source, target, plan) %}
    {%- set write = plan.write -%}
    {#- A project's own MERGE may insert `*`, so all columns of its source have to be checked. -#}
    {%- if adapter.dispatch('get_merge_sql', 'dbt').macro.package_name == 'dbt_deltawiden' -%}
      {%- set write = write.updating(get_merge_update_columns(
        config.get('merge_update_columns'), config.get('merge_exclude_columns'), write.columns)) -%}
    {%- endif -%}
    {#- If possible, use `*` as dbt-spark does instead of a list of columns. -#}
    {%- set dest_columns = none if write.can_merge_all else write.columns -%}
    {%- set shaped_source -%}
      {%- if write.is_as_is -%} {{ source }} {%- else -%}
        (select {{ write.source_select_sql }} from {{ source }}) {%- endif -%}
    {%- endset -%}
    {{ get_merge_sql(target, shaped_source, config.get('unique_key'), dest_columns, _deltawiden_predicates()) }}
{% endmacro %}


{% macro _deltawiden_predicates() %}
  {%- set predicates = config.get('predicates', none) or config.get('incremental_predicates', none) -%}
  {% do return([predicates] if predicates is string else predicates) %}
{% endmacro %}


{#-
  Call a project's custom strategy with the arguments that dbt documents. We do not control its statement, so its
  source has the table's columns that the model has, in the table's order at every depth.
  https://docs.getdbt.com/docs/build/incremental-strategy#custom-strategies
-#}
{% macro _deltawiden_custom_sql(strategy, source, target, plan) %}
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
    'dest_columns': dest_columns, 'incremental_predicates': _deltawiden_predicates()}) }}
{% endmacro %}


{% macro _deltawiden_insert_into_sql(source, target, existing, plan) %}
    insert into table {{ target }} {{ _deltawiden_column_list_sql(existing, plan) }}
    select {{ _deltawiden_select_list_sql(plan) }} from {{ source }}
{% endmacro %}


{% macro _deltawiden_insert_overwrite_sql(source, target, existing, plan) %}
    {%- if existing.is_iceberg %}
    insert overwrite {{ target }}
    {%- else %}
    insert overwrite table {{ target }}
    {{ partition_cols(label="partition") }}
    {%- endif %}
    {{ _deltawiden_column_list_sql(existing, plan) }}
    select {{ _deltawiden_select_list_sql(plan) }} from {{ source }}
{% endmacro %}


{#-
  Replace the rows of a batch in one commit. `replace where` does not support a list of columns or every limit of a
  batch. So a MERGE is used if the table generates columns, or if a limit can't be written exactly.
  https://docs.delta.io/latest/delta-batch.html#selective-overwrite
-#}
{% macro _deltawiden_replace_batch_sql(write) %}
    {%- set rows_sql = _deltawiden_batch_sql(write.source, write.plan, write.batch) -%}
    {%- if write.plan.write.leaves_out or not write.has_exact_text %}
    merge into {{ write.target }}
    using ({{ rows_sql }}) as DBT_INTERNAL_SOURCE
    on false
    when not matched then insert {{ _deltawiden_written_columns_sql(write.plan) }}
    values (
      {%- for column in write.plan.write.columns -%} DBT_INTERNAL_SOURCE.{{ column.quoted }}{{ ', ' if not loop.last }} {%- endfor -%}
    )
    when not matched by source and {{ write.batch.condition }} then delete
    {%- else %}
    insert into {{ write.target }} replace where {{ write.batch.condition }}
    {{ rows_sql }}
    {%- endif %}
{% endmacro %}


{% macro _deltawiden_batch_sql(source, plan, batch) -%}
  select {% for column in plan.write.columns -%}
    {{ batch.checked_sql(model.name) if column.name == batch.column else column.quoted }}{{ ', ' if not loop.last }}
  {%- endfor %} from (select {{ _deltawiden_select_list_sql(plan) }} from {{ source }})
{%- endmacro %}


{#-
  Render the table's columns in the table's order, also inside structs. Columns that the source lacks are null.
-#}
{% macro _deltawiden_select_list_sql(plan) %}
  {%- for column in plan.write.columns -%}
    {{ column.select_sql }}{{ ', ' if not loop.last }}
  {%- endfor -%}
{% endmacro %}


{#-
  Render the column list of an INSERT. Without a list, an INSERT matches columns by position: a column that another
  writer moved after the plan would get the values of another column, and a generated column would need a value.
  https://spark.apache.org/docs/latest/sql-ref-syntax-dml-insert-table.html (column_list)
-#}
{% macro _deltawiden_column_list_sql(existing, plan) %}
  {%- if not existing.is_hudi -%}
    {{ _deltawiden_written_columns_sql(plan) }}
  {%- endif -%}
{% endmacro %}


{% macro _deltawiden_written_columns_sql(plan) -%}
  ({{ plan.write.columns | map(attribute='quoted') | join(', ') }})
{%- endmacro %}
