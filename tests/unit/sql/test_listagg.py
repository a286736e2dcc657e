"""The expression for dbt's listagg with an order."""

import pytest

from dbt.adapters.deltawiden.sql.listagg import ordered_listagg


def test_the_order_stands_in_the_expression():
    assert ordered_listagg("v", "','", "order by n desc", None) == (
        "coalesce(listagg(v, ',') within group (order by n desc), '')"
    )


def test_a_limit_is_that_of_the_ordered_values():
    limited = ordered_listagg("v", "','", "order by v", 2)
    assert limited is not None
    assert "within group (order by v)" in limited
    assert limited.endswith(", 1, 2), ','), '')")


@pytest.mark.parametrize(
    ("order", "is_ascending"),
    [
        ("order by v", "true"),
        ("ORDER BY (t.V) desc nulls last", "false"),
        ("order by v asc", "true"),
    ],
)
def test_distinct_values_are_sorted_by_themselves(order: str, is_ascending: str):
    sorted_values = f"sort_array(collect_set(v), {is_ascending})"
    assert ordered_listagg("distinct v", "','", order, None) == f"array_join({sorted_values}, ',')"
    limited = f"array_join(slice({sorted_values}, 1, 2), ',')"
    assert ordered_listagg("DISTINCT v", "','", order, 2) == limited


@pytest.mark.parametrize("order", ["order by n", "order by upper(v)", "order by v, n"])
def test_distinct_values_are_not_sorted_by_others(order: str):
    assert ordered_listagg("distinct v", "','", order, None) is None
