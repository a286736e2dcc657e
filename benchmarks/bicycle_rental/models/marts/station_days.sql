{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key=['station_id', 'ride_day']
) }}

select
    from_station_id as station_id,
    ride_day,
    count(*) as rides,
    count(distinct member_id) as members,
    sum(minutes) as minutes,
    sum(price) as revenue
from {{ ref('rides') }}
where state <> 'cancelled'
{% if is_incremental() %}
    and ride_day >= (select date_sub(max(ride_day), 3) from {{ this }})
{% endif %}
group by from_station_id, ride_day
