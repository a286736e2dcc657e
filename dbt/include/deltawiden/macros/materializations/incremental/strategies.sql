{#- The statement that writes a model's output to its table, by strategy. -#}
{% macro deltawiden__get_incremental_sql(strategy, source, target, existing, plan, batch=none) %}
  {%- if strategy == 'append' -%}
    {{ deltawiden__insert_into_sql(source, target, existing, plan) }}
  {%- elif strategy == 'microbatch' and existing.is_delta -%}
    {{ deltawiden__replace_batch_sql(source, target, plan, batch) }}
  {%- elif strategy in ['insert_overwrite', 'microbatch'] -%}
    {{ deltawiden__insert_overwrite_sql(source, target, existing, plan) }}
  {%- elif strategy == 'merge' -%}
    {{ deltawiden__merge_sql(source, target, plan) }}
  {%- else -%}
    {{ deltawiden__custom_sql(strategy, source, target, plan) }}
  {%- endif -%}
{% endmacro %}


{% macro deltawiden__merge_sql(source, target, plan) %}
    {%- set write = plan.write -%}
    {#- A MERGE of the project's own may insert `*`, so what it reads has to be checked whole. -#}
    {%- if adapter.dispatch('get_merge_sql', 'dbt').macro.package_name == 'dbt_deltawiden' -%}
      {%- set write = write.updating(get_merge_update_columns(
        config.get('merge_update_columns'), config.get('merge_exclude_columns'), write.columns)) -%}
    {%- endif -%}
    {#- No list of columns where `*` will do, which is what dbt-spark writes. -#}
    {%- set dest_columns = none if write.can_merge_all else write.columns -%}
    {%- set shaped_source -%}
      {%- if write.is_as_is -%} {{ source }} {%- else -%}
        (select {{ write.source_select_sql }} from {{ source }}) {%- endif -%}
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
  Replace the rows of a batch, in one commit. `replace where` takes no list of columns, so a table that makes
  columns itself is merged into, and so is one whose batch has a limit that `replace where` can't be given.
  https://docs.delta.io/latest/delta-batch.html#selective-overwrite
-#}
{% macro deltawiden__replace_batch_sql(source, target, plan, batch) %}
    {%- if plan.write.leaves_out or not adapter.has_exact_text(batch) %}
    merge into {{ target }}
    using ({{ _deltawiden_batch_sql(source, plan, batch) }}) as DBT_INTERNAL_SOURCE
    on false
    when not matched then insert {{ deltawiden__written_columns_sql(plan) }}
    values (
      {%- for column in plan.write.columns -%} DBT_INTERNAL_SOURCE.{{ column.quoted }}{{ ', ' if not loop.last }} {%- endfor -%}
    )
    when not matched by source and {{ batch.condition }} then delete
    {%- else %}
    insert into {{ target }} replace where {{ batch.condition }}
    {{ _deltawiden_batch_sql(source, plan, batch) }}
    {%- endif %}
{% endmacro %}


{% macro _deltawiden_batch_sql(source, plan, batch) -%}
  select {% for column in plan.write.columns -%}
    {{ batch.checked_sql(model.name) if column.name == batch.column else column.quoted }}{{ ', ' if not loop.last }}
  {%- endfor %} from (select {{ deltawiden__select_list_sql(plan) }} from {{ source }})
{%- endmacro %}


{#- Of a format that replaces whole partitions only, a partition must have no rows of another batch. -#}
{% macro _deltawiden_check_batch(source, target, existing, batch) %}
  {#- Iceberg's partitions can be functions of columns, which no query can name. -#}
  {%- if not existing.is_delta and not existing.is_iceberg -%}
    {%- set names = config.get('partition_by') -%}
    {%- set names = [names] if names is string else names -%}
    {%- set found = run_query(
      'select 1 from ' ~ target ~ ' as t where not coalesce(' ~ batch.condition ~ ', false) and exists (select 1 from '
      ~ source ~ ' as s where ' ~ _deltawiden_same_partition(names) ~ ') limit 1') -%}
    {%- if found.rows | length -%}
      {% do exceptions.raise_compiler_error(
        'The batch would replace partitions of ' ~ target ~ ' that have rows of other batches too: their '
        ~ batch.column ~ ' is not in ' ~ batch.start ~ ' to ' ~ batch.end ~ '. The table is partitioned by '
        ~ names | join(', ') ~ '. Partition it by a column that is no coarser than batch_size and in UTC, '
        ~ 'or use file_format: delta, which replaces just the rows of a batch.') %}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}


{% macro _deltawiden_same_partition(names) -%}
  {%- for name in names -%}
    s.{{ adapter.quote_once(name) }} <=> t.{{ adapter.quote_once(name) }}{{ ' and ' if not loop.last }}
  {%- endfor -%}
{%- endmacro %}


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
  {%- if not existing.is_hudi -%}
    {{ deltawiden__written_columns_sql(plan) }}
  {%- endif -%}
{% endmacro %}


{% macro deltawiden__written_columns_sql(plan) -%}
  ({{ plan.write.columns | map(attribute='quoted') | join(', ') }})
{%- endmacro %}
