{#
  Passengers a flight, as a whole number; then somebody divides it, and it is a decimal. No widening
  does that by itself.
#}
select
  carrier,
  {% if var('half') == 1 %} cast(count(*) as int) {% else %} cast(count(*) / 7 as decimal(10,2)) {% endif %}
    as flights_a_week
from {{ ref('all_flights') }}
group by carrier
