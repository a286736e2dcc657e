{#-
  Render the time at which a snapshot finds a row deleted, in the type of the snapshot's other times. Otherwise, Spark
  would cast a timestamp_ntz to timestamp, which changes times in the hour that daylight saving time skips, and a text to
  timestamp and back, which is another text.
-#}
{% macro deltawiden__snapshot_get_time() -%}
  {%- set type = adapter.services().snapshots.time_type(model.unique_id) if model.resource_type == 'snapshot' else '' -%}
  {{ 'cast(' ~ current_timestamp() ~ ' as ' ~ type ~ ')' if type else current_timestamp() }}
{%- endmacro %}
