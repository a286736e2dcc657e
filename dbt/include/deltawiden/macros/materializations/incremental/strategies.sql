{#-
  Render the statement that writes a model's output to its table, by strategy. `prepared` is a `PreparedWrite`: the
  plan, the strategy, the relations and the rows to replace.
-#}
{% macro _deltawiden_incremental_sql(prepared) %}
  {%- set existing = prepared.existing -%}
  {%- set strategy = prepared.strategy -%}
  {%- if prepared.is_custom -%}
    {{ _deltawiden_custom_sql(prepared) }}
  {%- elif strategy == 'append' -%}
    {{ _deltawiden_insert_into_sql(prepared.source, prepared.target, existing, prepared.plan) }}
  {%- elif strategy == 'replace_where' or (strategy == 'microbatch' and existing.is_delta) -%}
    {{ _deltawiden_replace_rows_sql(prepared) }}
  {%- elif strategy in ['insert_overwrite', 'microbatch'] -%}
    {{ _deltawiden_insert_overwrite_sql(prepared) }}
  {%- elif strategy == 'delete+insert' -%}
    {{ _deltawiden_delete_insert_sql(prepared) }}
  {%- else -%}
    {{ _deltawiden_merge_sql(prepared) }}
  {%- endif -%}
{% endmacro %}


{% macro _deltawiden_merge_sql(prepared) %}
    {%- set write = prepared.plan.write -%}
    {%- set updated = none -%}
    {%- if not prepared.is_merge_replaced -%}
      {%- set updated = adapter.merge_update_columns(
        config.get('merge_update_columns'), config.get('merge_exclude_columns'), write.columns) -%}
      {%- set write = write.merging(updated, prepared.writes_every_row) -%}
    {%- endif -%}
    {#- If possible, use `*` as dbt-spark does instead of a list of columns. -#}
    {%- set dest_columns = none if write.can_merge_all else write.columns -%}
    {%- set rows = _deltawiden_model_rows_sql(prepared, write) -%}
    {%- if prepared.is_merge_replaced -%}
      {{ get_merge_sql(prepared.target, rows, config.get('unique_key'), dest_columns, _deltawiden_predicates()) }}
    {%- else -%}
      {{ _deltawiden_merge_into_sql(
          prepared.target, rows, config.get('unique_key'), dest_columns, _deltawiden_predicates(), updated) }}
    {%- endif -%}
{% endmacro %}


{#- Render the model's rows, in the table's types, as the source of a MERGE. -#}
{% macro _deltawiden_model_rows_sql(prepared, write) -%}
  {%- set selected = '*' if write.is_as_is else write.source_select_sql -%}
  {{- _deltawiden_source_sql(prepared.source, selected, prepared.plan, prepared.existing) -}}
{%- endmacro %}


{#- Render the source of a MERGE into a relation: the selected columns of a view. -#}
{% macro _deltawiden_source_sql(view, selected, plan, relation) -%}
  {%- if selected == '*' and not relation.is_delta -%} {{ view }} {%- else -%}
        (select {{ selected }} from {{ view }}
        {{- _deltawiden_where_types_unchanged(plan, relation) }}) {%- endif -%}
{%- endmacro %}


{#-
  Stop the write if another writer has changed the table's types since the plan. Only for Delta: other formats refuse
  to overwrite a table that the statement also reads.
-#}
{% macro _deltawiden_where_types_unchanged(plan, relation, by_position=false) -%}
  {%- if relation.is_delta %}
        where {{ plan.types_unchanged_sql(by_position) }}
  {%- endif -%}
{%- endmacro %}


{#-
  Delete the rows that have the key of a row of the model, and insert the model's rows, in one commit. The source has
  each row twice: one deletes, which may match several rows, and one inserts, which matches none. Keys that are null
  are equal, as in dbt-databricks.
  https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge
-#}
{% macro _deltawiden_delete_insert_sql(prepared) %}
    {%- set write = prepared.plan.write -%}
    {%- set deletes = 'DBT_INTERNAL_SOURCE.DBT_INTERNAL_DELETES' -%}
    {%- set conditions = [deletes] -%}
    {%- set unique_key = config.get('unique_key') -%}
    {%- for key in ([unique_key] if unique_key is string else unique_key) -%}
      {%- set name = adapter.quote_once(key) -%}
      {%- do conditions.append('DBT_INTERNAL_SOURCE.' ~ name ~ ' <=> DBT_INTERNAL_DEST.' ~ name) -%}
    {%- endfor -%}
    {%- for predicate in _deltawiden_predicates() or [] -%}
      {%- do conditions.append('(' ~ predicate ~ '\n)') -%}
    {%- endfor %}
    merge into {{ prepared.target }} as DBT_INTERNAL_DEST
    using (
      select * from {{ _deltawiden_model_rows_sql(prepared, write) }}
      lateral view explode(array(true, false)) as DBT_INTERNAL_DELETES
    ) as DBT_INTERNAL_SOURCE
    on {{ conditions | join(' and ') }}
    when matched then delete
    when not matched and not {{ deletes }} then insert {{ _deltawiden_insert_sql(write.columns, 'DBT_INTERNAL_SOURCE') }}
{% endmacro %}


{% macro _deltawiden_predicates() %}
  {%- set predicates = config.get('predicates', none) or config.get('incremental_predicates', none) -%}
  {% do return([predicates] if predicates is string else predicates) %}
{% endmacro %}


{#-
  Call a project's custom strategy with the arguments that dbt documents. We do not control its statement, which may
  insert `*` by position. So its source has the table's columns that the model has, in the table's order at every depth.
  The model's other columns come last, because the statement may use them in a condition.
  https://docs.getdbt.com/docs/build/incremental-strategy#custom-strategies
-#}
{% macro _deltawiden_custom_sql(prepared) %}
  {%- set write = prepared.plan.write -%}
  {%- set columns = write.columns | selectattr('in_source') | list -%}
  {%- set rows = prepared.source.incorporate(path={'identifier': prepared.source.identifier ~ '_shaped'}) -%}
  {%- set condition = _deltawiden_where_types_unchanged(prepared.plan, prepared.existing) -%}
  {%- set query = 'select ' ~ write.source_select_sql ~ ' from ' ~ prepared.source ~ condition -%}
  {% do run_query(create_table_as(True, rows, query)) %}
  {%- set names = columns | map(attribute='name') | list -%}
  {%- set dest_columns = adapter.get_columns_in_relation(prepared.target) | selectattr('name', 'in', names) | list -%}
  {{ adapter.get_incremental_strategy_macro(context, prepared.strategy)({
    'target_relation': prepared.target, 'temp_relation': rows, 'unique_key': config.get('unique_key'),
    'dest_columns': dest_columns, 'incremental_predicates': _deltawiden_predicates()}) }}
{% endmacro %}


{% macro _deltawiden_insert_into_sql(source, target, existing, plan) %}
    insert into table {{ target }} {{ _deltawiden_column_list_sql(existing, plan) }}
    select {{ _deltawiden_select_list_sql(plan) }} from {{ source }}
    {{- _deltawiden_where_types_unchanged(plan, existing) }}
{% endmacro %}


{% macro _deltawiden_insert_overwrite_sql(prepared) %}
    {%- set existing = prepared.existing -%}
    {%- set plan = prepared.plan -%}
    {%- if existing.is_iceberg %}
    insert overwrite {{ prepared.target }}
    {%- else %}
    insert overwrite table {{ prepared.target }}
    {{ partition_cols(label="partition") }}
    {%- endif %}
    {{ _deltawiden_column_list_sql(existing, plan) }}
    {%- if prepared.replaced %}
    {{ _deltawiden_checked_rows_sql(prepared) }}
    {%- else %}
    select {{ _deltawiden_select_list_sql(plan) }} from {{ prepared.source }}
    {{- _deltawiden_where_types_unchanged(plan, existing) }}
    {%- endif %}
{% endmacro %}


{#-
  Replace rows in one commit: those of a batch, or those that a condition selects. `replace where` writes columns by
  position, and supports only conditions that compare columns with values. Otherwise a MERGE does it.
  https://docs.delta.io/latest/delta-batch.html#selective-overwrite
-#}
{% macro _deltawiden_replace_rows_sql(prepared) %}
    {%- set rows_sql = _deltawiden_checked_rows_sql(prepared) -%}
    {%- if prepared.can_replace_where %}
    insert into {{ prepared.target }} replace where {{ prepared.replaced.condition }}
    {{ rows_sql }}
    {%- else -%}
    {{ _deltawiden_replace_by_merge_sql(prepared, rows_sql) }}
    {%- endif %}
{% endmacro %}


{#-
  The source has the rows to insert, and one row that deletes: its key matches each row to replace. The keys of the
  other rows are negative and match none. A join by keys is one that Spark can sort; `on false` would compare each row
  with each other row. The source's columns have names of their own, so that a name in the condition is the table's.
-#}
{% macro _deltawiden_replace_by_merge_sql(prepared, rows_sql) %}
    {%- set columns = prepared.plan.write.columns %}
    merge into {{ prepared.target }}
    using (
      select {% for column in columns -%} {{ column.quoted }} as DBT_INTERNAL_{{ loop.index }}, {% endfor -%}
        -1 - cast(1024 * rand() as int) as DBT_INTERNAL_KEY
      from ({{ rows_sql }})
      union all
      select {% for column in columns -%} null, {% endfor -%} 0
    ) as DBT_INTERNAL_SOURCE
    on DBT_INTERNAL_KEY = case when {{ prepared.replaced.condition }} then 0 end
    when matched then delete
    when not matched and DBT_INTERNAL_KEY < 0 then insert {{ _deltawiden_written_columns_sql(prepared.plan) }}
    values ({% for column in columns -%} DBT_INTERNAL_{{ loop.index }}{{ ', ' if not loop.last }} {%- endfor -%})
{%- endmacro %}


{% macro _deltawiden_checked_rows_sql(prepared) -%}
  {%- set plan = prepared.plan -%}
  {%- set replaced = prepared.replaced -%}
  select {% for column in plan.write.columns -%}
    {{ replaced.checked_sql(model.name) if column.name == replaced.column else column.quoted }}{{ ', ' if not loop.last }}
  {%- endfor %} from (select {{ _deltawiden_select_list_sql(plan) }} from {{ prepared.source }}
    {{- _deltawiden_where_types_unchanged(plan, prepared.existing, by_position=prepared.can_replace_where) }})
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
