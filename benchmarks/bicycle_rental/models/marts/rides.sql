{{ config(materialized='incremental', incremental_strategy='merge', unique_key='ride_id') }}

select *
from {{ ref('int_priced_rides') }}
{% if is_incremental() %}
where ride_day >= (select date_sub(max(ride_day), 3) from {{ this }})
{% endif %}
