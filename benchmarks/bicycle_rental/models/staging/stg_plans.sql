select
    id as plan_id,
    name as plan_name,
    free_minutes,
    {{ euros('monthly_cents') }} as monthly_fee,
    {{ euros('cents_per_minute') }} as price_per_minute
from {{ ref('raw_plans') }}
