select
    id as repair_id,
    bike_id,
    reported_on,
    kind,
    {{ euros('cost_cents') }} as cost
from {{ ref('raw_repairs') }}
