{# Every flight, with the widest types. The other models select from this view. #}
{{ config(materialized='view') }}

select
  -- In the first half of the year, the numbers start again each month. Later, they contain the month.
  case when cast(month as int) <= 6 then 0 else cast(month as bigint) * 100000000 end
    + cast(day as bigint) * 1000000 + cast(sched_dep_time as int) * 100 + cast(flight as int) % 100
    as flight_id,
  cast(month as int) as month,
  cast(distance as int) as distance,
  cast(dep_delay as int) as delay,
  cast(distance as double) / cast(air_time as double) * 60 as speed,
  cast(distance as decimal(6,0)) * 0.1279 as fuel_cost,
  cast(distance as decimal(6,0)) * 0.15 as price,
  make_timestamp_ntz(year, month, day, hour, minute, 0) as departure,
  carrier, origin, dest
from {{ target.schema }}.flights_csv
