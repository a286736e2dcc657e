select
    bike_id,
    count(*) as repairs,
    sum(cost) as repair_cost,
    max(reported_on) as last_repaired_on
from {{ ref('stg_repairs') }}
group by bike_id
