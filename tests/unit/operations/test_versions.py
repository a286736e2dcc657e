"""Which version of a model an operation works on."""

from typing import Any

import pytest
from dbt_common.exceptions import CompilationError

from dbt.adapters.deltawiden.operations.selection import Node, Selection


def version(number: Any, latest: Any) -> Node:
    return {
        "name": "orders",
        "resource_type": "model",
        "version": number,
        "latest_version": latest,
        "schema": "shop",
        "alias": f"orders_v{number}",
    }


def selection(*nodes: Node) -> Selection:
    graph = {"nodes": {node["alias"]: node for node in nodes}}
    return Selection("check_type_widening", graph, "shop", lambda *_: None, lambda _: [])


@pytest.mark.parametrize("versions", [(1, 2, 3), (3, 2, 1)])
@pytest.mark.parametrize(
    ("name", "alias"),
    [("orders", "orders_v2"), ("orders.v1", "orders_v1"), ("orders.v3", "orders_v3")],
)
def test_a_name_is_the_latest_version_and_each_version_has_the_name_that_dbt_lists(
    versions, name, alias
):
    found = selection(*(version(number, 2) for number in versions)).node(name)
    assert found["alias"] == alias


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("orders", "the latest version of 'orders' is not in this project; name one of its "),
        ("orders.v3", "no model, seed or snapshot named 'orders.v3' in this project; there are: "),
    ],
)
def test_a_version_that_is_not_in_the_project_is_an_error_that_names_the_others(name, message):
    with pytest.raises(CompilationError) as error:
        selection(version(1, 3), version(2, 3)).node(name)
    assert message in error.value.msg
    assert error.value.msg.endswith(": orders.v1, orders.v2")
