"""Two nodes that would have one table."""

import pytest

from dbt.adapters.deltawiden.delta.relations import one_name
from dbt.adapters.deltawiden.relation import DeltaWidenRelation

Name = tuple[str | None, str, str]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((None, "sales", "Orders"), (None, "sales", "orders")),
        ((None, "Sales", "orders"), (None, "sales", "orders")),
        (("spark_catalog", "sales", "orders"), (None, "spark_catalog.Sales", "orders")),
        ((None, "sales", "`orders`"), (None, "sales", "Orders")),
        (("SPARK_CATALOG", "sales", "orders"), (None, "sales", "orders")),
    ],
)
def test_in_the_catalog_of_the_session_two_names_are_one(first: Name, second: Name):
    assert found(first, second) == {"0": "1", "1": "0"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((None, "sales", "orders"), (None, "Sales", "customers")),
        ((None, "sales", "`a.b`"), (None, "sales.a", "b")),
        # Another catalog can have both.
        (("lake", "sales", "Orders"), ("lake", "sales", "orders")),
        (("lake", "sales", "orders"), (None, "sales", "orders")),
    ],
)
def test_two_names_are_two(first: Name, second: Name):
    assert not found(first, second)


def found(*names: Name) -> dict[str, str]:
    relations = (DeltaWidenRelation.create(*name) for name in names)
    return one_name({str(number): relation for number, relation in enumerate(relations)})
