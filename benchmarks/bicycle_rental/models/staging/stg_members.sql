select
    id as member_id,
    name as member_name,
    plan_id,
    joined_on
from {{ ref('raw_members') }}
