{#
  The clauses of CREATE TABLE that contain names and texts from the configuration. dbt-spark inserts them into the
  statement unchanged, so that a quote or a bracket in one of them ends its clause early.
#}

{% macro deltawiden__location_clause() %}
  {%- set folder = adapter.services().folders.configured_folder(config, this) if config.get('location_root') else none -%}
  {%- if folder %}
    location {{ adapter.literal_sql(folder) }}
  {%- endif %}
{%- endmacro %}


{% macro deltawiden__options_clause() -%}
  {%- set options = _deltawiden_options() -%}
  {%- if options %}
    options ({{ adapter.properties_sql(options) }})
  {%- endif %}
{%- endmacro %}


{#- Hudi uses the model's unique key to find rows: https://hudi.apache.org/docs/configurations#SPARK_DATASOURCE. -#}
{% macro _deltawiden_options() %}
  {%- set options = {} -%}
  {%- do options.update(config.get('options') or {}) -%}
  {%- set unique_key = config.get('unique_key') -%}
  {%- if config.get('file_format') == 'hudi' -%}
    {%- if options.get('primaryKey', unique_key) != unique_key -%}
      {% do exceptions.raise_compiler_error("unique_key and options('primaryKey') should be the same column(s).") %}
    {%- elif unique_key -%}
      {%- do options.update({'primaryKey': unique_key}) -%}
    {%- endif -%}
  {%- endif -%}
  {% do return(options) %}
{% endmacro %}


{% macro deltawiden__partition_cols(label, required=false) %}
  {%- set columns = config.get('partition_by', validator=validation.any[list, basestring]) -%}
  {%- if columns %}
    {{ label }} ({{ adapter.columns_sql(columns) }})
  {%- endif %}
{%- endmacro %}


{#- Liquid clustering takes the place of buckets, which Delta does not have. -#}
{% macro deltawiden__clustered_cols(label, required=false) %}
  {%- set liquid = config.get('liquid_clustered_by') -%}
  {%- set columns = config.get('clustered_by', validator=validation.any[list, basestring]) -%}
  {%- set buckets = config.get('buckets', validator=validation.any[int]) -%}
  {%- if liquid %}
    cluster by ({{ adapter.columns_sql(liquid) }})
  {%- elif columns and buckets %}
    {{ label }} ({{ adapter.columns_sql(columns) }}) into {{ buckets }} buckets
  {%- endif %}
{%- endmacro %}
