{#-
  The seed fails if a column would change a value. Each of these three macros asks for the check, because a project can
  replace the others; the first one that runs makes it, before the table is dropped. There is no check if a project
  replaces both others.
-#}
{% macro deltawiden__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
  {%- set own = adapter.services().seeds.own_macros(context) -%}
  {%- set features = adapter.services().seeds.check(model, agate_table, this) if own | length < 2 -%}
  {%- if 'create_csv_table' in own -%}
    {%- do adapter.drop_relation(old_relation) -%}
    {% do return(create_csv_table(model, agate_table)) %}
  {%- endif -%}
  {%- set format = config.get('file_format') -%}
  {%- if not (old_relation.is_delta and format == 'delta' or old_relation.is_iceberg and format == 'iceberg') -%}
    {%- do adapter.drop_relation(old_relation) -%}
  {%- endif -%}
  {% do return(_deltawiden_create_seed(model, agate_table, features)) %}
{% endmacro %}


{% macro deltawiden__create_csv_table(model, agate_table) %}
  {%- set features = adapter.services().seeds.check(model, agate_table, this) -%}
  {% do return(_deltawiden_create_seed(model, agate_table, features)) %}
{% endmacro %}


{#-
  The table is created together with its rows where that can be done in one commit: old rows stay until the new ones are
  there.
-#}
{% macro _deltawiden_create_seed(model, agate_table, features) %}
  {%- if adapter.services().seeds.postpone(context, model, agate_table) -%}
    {% do return('') %}
  {%- endif -%}
  {%- set columns = adapter.services().seeds.columns(model, agate_table) | map('join', ' ') | join(', ') -%}
  {%- set sql = _deltawiden_seed_table('(' ~ columns ~ ')', features) -%}
  {%- call statement('_') -%}
    {{ sql }}
  {%- endcall -%}
  {% do return(sql) %}
{% endmacro %}


{#-
  A Delta table is replaced, also one that is in the seed's folder and has no name in the metastore: it would keep its
  rows. dbt-spark's macro ignores `tblproperties`.
-#}
{% macro _deltawiden_seed_table(columns, features) %}
    create {{ 'or replace' if config.get('file_format') in ['delta', 'iceberg'] }} table {{ this.render() }}
    {{ columns }}
    {{ file_format_clause() }}
    {{ _deltawiden_tblproperties(features) }}
    {{ partition_cols(label='partitioned by') }}
    {{ clustered_cols(label='clustered by') }}
    {{ location_clause() }}
    {{ comment_clause() }}
{% endmacro %}


{#-
  dbt-spark's macro determines the type of a column again for each value, and reads all of the column's values
  each time. This takes minutes for a seed with about ten thousand rows.
-#}
{% macro deltawiden__load_csv_rows(model, agate_table) %}
  {%- set features = adapter.services().seeds.check(model, agate_table, this) -%}
  {%- if adapter.services().seeds.is_postponed(agate_table) -%}
    {% do return(adapter.services().seeds.write(
        model, this, _deltawiden_seed_table('', features), agate_table, get_batch_size())) %}
  {%- endif -%}
  {%- set statements = [] -%}
  {%- for sql, values in adapter.services().seeds.inserts(
      model, this, agate_table, get_batch_size(), get_binding_char(), _deltawiden_is_in_folder()) -%}
    {%- do _deltawiden_fill(this, adapter.add_query, sql, True, values, True) if loop.first
        else adapter.add_query(sql, bindings=values, abridge_sql_log=True) -%}
    {%- do statements.append(sql) -%}
  {%- endfor -%}

  {#- dbt writes the returned statement to the compiled files. -#}
  {% do return(statements[0]) %}
{% endmacro %}
