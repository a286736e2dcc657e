{#
  The number of flights of a carrier. The first version of the model returns an int. The second version divides it,
  and returns a decimal. A run never widens an integer column to a decimal by itself.
#}
select
  carrier,
  {% if var('half') == 1 %} cast(count(*) as int) {% else %} cast(count(*) / 7 as decimal(10,2)) {% endif %}
    as flights_a_week
from {{ ref('all_flights') }}
group by carrier
