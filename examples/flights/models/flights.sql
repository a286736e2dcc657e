{#
  One row for each flight. The first version of this model loads the first half of 2013. The second version has wider
  types, and loads the second half. The variable `half` decides which version runs.
#}
{{ config(incremental_strategy='append') }}

{% set version_1 = {
  'flight_id': 'int',
  'distance': 'smallint',
  'delay': 'smallint',
  'speed': 'float',
  'fuel_cost': 'decimal(8,2)',
  'price': 'decimal(8,2)',
  'departure': 'date',
} %}
{% set version_2 = {
  'flight_id': 'bigint',
  'distance': 'int',
  'delay': 'int',
  'speed': 'double',
  'fuel_cost': 'decimal(10,4)',
  'price': 'decimal(12,2)',
  'departure': 'timestamp_ntz',
} %}
{% set types = version_1 if var('half') == 1 else version_2 %}

select
{% for column, type in types.items() %}
  cast({{ column }} as {{ type }}) as {{ column }},
{% endfor %}
  carrier, origin, dest
from {{ ref('all_flights') }}
where month {{ '<= 6' if var('half') == 1 else '> 6' }}
