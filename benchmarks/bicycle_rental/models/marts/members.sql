with ridden as (

    select
        member_id,
        count(*) as rides,
        min(started_at) as first_ride_at,
        max(started_at) as last_ride_at,
        sum(price) as spent
    from {{ ref('rides') }}
    group by member_id

)

select
    members.member_id,
    members.member_name,
    members.joined_on,
    plans.plan_name,
    coalesce(ridden.rides, 0) as rides,
    ridden.first_ride_at,
    ridden.last_ride_at,
    coalesce(ridden.spent, 0) as spent_on_rides,
    case
        when ridden.rides > 1 then 'returning'
        when ridden.rides = 1 then 'new'
        else 'idle'
    end as member_type
from {{ ref('stg_members') }} as members
inner join {{ ref('stg_plans') }} as plans on members.plan_id = plans.plan_id
left join ridden on members.member_id = ridden.member_id
