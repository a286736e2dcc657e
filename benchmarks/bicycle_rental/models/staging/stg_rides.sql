select
    id as ride_id,
    bike_id,
    member_id,
    from_station_id,
    to_station_id,
    started_at,
    timestampadd(minute, minutes, started_at) as ended_at,
    cast(started_at as date) as ride_day,
    minutes,
    state
from {{ ref('raw_rides') }}
