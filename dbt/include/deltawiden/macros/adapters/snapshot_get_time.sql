{#-
  Render the time at which a snapshot finds a row deleted, in the type of the snapshot's other times. Otherwise, Spark
  would cast a timestamp_ntz to timestamp, which changes times in the hour that daylight saving time skips.
-#}
{% macro deltawiden__snapshot_get_time() -%}
  {%- if model.resource_type == 'snapshot' and adapter.has_timestamp_ntz(model.unique_id) -%}
    cast({{ current_timestamp() }} as timestamp_ntz)
  {%- else -%}
    {{ current_timestamp() }}
  {%- endif -%}
{%- endmacro %}
