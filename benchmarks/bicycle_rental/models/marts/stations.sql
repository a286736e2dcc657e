with arrivals as (

    select to_station_id as station_id, count(*) as arrivals
    from {{ ref('rides') }}
    group by to_station_id

),

departures as (

    select station_id, sum(rides) as departures, sum(revenue) as revenue
    from {{ ref('station_days') }}
    group by station_id

)

select
    stations.station_id,
    stations.station_name,
    stations.district,
    stations.docks,
    coalesce(departures.departures, 0) as departures,
    coalesce(arrivals.arrivals, 0) as arrivals,
    coalesce(departures.revenue, 0) as revenue,
    rank() over (order by coalesce(departures.revenue, 0) desc, stations.station_id) as revenue_rank
from {{ ref('stg_stations') }} as stations
left join arrivals on stations.station_id = arrivals.station_id
left join departures on stations.station_id = departures.station_id
