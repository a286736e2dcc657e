{#-
  dbt takes a time without an offset for one in UTC. Spark returns a timestamp in the session's time zone, which can have
  two offsets.
-#}
{% macro deltawiden__collect_freshness(source, loaded_at_field, filter) %}
  {%- set loaded = 'max(' ~ loaded_at_field ~ ') as max_loaded_at' -%}
  {%- set query = 'select ' ~ loaded ~ ', ' ~ current_timestamp() ~ ' as snapshotted_at from ' ~ source -%}
  {%- do return(_deltawiden_freshness(query ~ ('\nwhere ' ~ filter if filter else ''))) -%}
{% endmacro %}


{% macro deltawiden__collect_freshness_custom_sql(source, loaded_at_query) %}
  {%- set loaded = '(select * from (\n' ~ loaded_at_query ~ '\n)) as max_loaded_at' -%}
  {%- do return(_deltawiden_freshness('select ' ~ loaded ~ ', ' ~ current_timestamp() ~ ' as snapshotted_at')) -%}
{% endmacro %}


{% macro _deltawiden_freshness(query) %}
  {%- call statement('collect_freshness', fetch_result=True, auto_begin=False) -%}
    select
      {%- for name in ['max_loaded_at', 'snapshotted_at'] %}
      case typeof({{ name }})
        when 'timestamp' then timestamp_ntz'1970-01-01 00:00:00'
          + unix_micros(cast({{ name }} as timestamp_ltz)) * interval '0.000001' second
        when 'string' then cast(raise_error('The time of loading is a text: cast it to a timestamp') as timestamp_ntz)
        else cast({{ name }} as timestamp_ntz) end as {{ name }}{{ ',' if not loop.last }}
      {%- endfor %}
    from (
      {{ query }}
    )
  {%- endcall -%}
  {%- do return(load_result('collect_freshness')) -%}
{% endmacro %}
