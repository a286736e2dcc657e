select
    id as station_id,
    name as station_name,
    district,
    docks,
    opened_on
from {{ ref('raw_stations') }}
