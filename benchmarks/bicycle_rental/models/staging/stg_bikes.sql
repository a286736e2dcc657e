select
    id as bike_id,
    model,
    is_electric,
    station_id as home_station_id,
    bought_on,
    {{ euros('price_cents') }} as purchase_price
from {{ ref('raw_bikes') }}
