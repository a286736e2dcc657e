with ridden as (

    select bike_id, count(*) as rides, sum(minutes) as minutes, sum(price) as revenue
    from {{ ref('rides') }}
    group by bike_id

)

select
    bikes.bike_id,
    bikes.model,
    bikes.is_electric,
    stations.station_name as home_station,
    coalesce(ridden.rides, 0) as rides,
    coalesce(ridden.minutes, 0) as minutes,
    coalesce(repairs.repairs, 0) as repairs,
    repairs.last_repaired_on,
    coalesce(ridden.revenue, 0) - coalesce(repairs.repair_cost, 0) - bikes.purchase_price as profit
from {{ ref('stg_bikes') }} as bikes
inner join {{ ref('stg_stations') }} as stations on bikes.home_station_id = stations.station_id
left join ridden on bikes.bike_id = ridden.bike_id
left join {{ ref('int_bike_repairs') }} as repairs on bikes.bike_id = repairs.bike_id
