with billable as (

    select
        rides.*,
        members.plan_id,
        plans.price_per_minute,
        case
            when rides.state = 'cancelled' then 0
            else greatest(rides.minutes - plans.free_minutes, 0)
        end as billable_minutes
    from {{ ref('stg_rides') }} as rides
    inner join {{ ref('stg_members') }} as members on rides.member_id = members.member_id
    inner join {{ ref('stg_plans') }} as plans on members.plan_id = plans.plan_id

)

select
    ride_id,
    bike_id,
    member_id,
    plan_id,
    from_station_id,
    to_station_id,
    started_at,
    ended_at,
    ride_day,
    minutes,
    state,
    billable_minutes,
    cast(billable_minutes * price_per_minute as decimal(12, 2)) as price
from billable
