{# A view over the table. It is created before the table is widened, and must return every new value exactly. #}
{{ config(materialized='view') }}
select * from {{ ref('flights') }}
