"""The selection of the tables of an operation."""

import pytest
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.deltawiden.operations.selection import Selection

NODES = [
    {"name": "orders", "resource_type": "model", "schema": "shop", "alias": "orders"},
    {"name": "history", "resource_type": "snapshot", "schema": "shop_past", "alias": "h"},
    {"name": "codes", "resource_type": "seed", "schema": "shop", "alias": "codes"},
    {"name": "is_right", "resource_type": "test", "schema": "shop", "alias": "is_right"},
]


def relation(schema: str, name: str, is_delta: bool = True) -> SparkRelation:
    return SparkRelation.create(schema=schema, identifier=name, is_delta=is_delta)


TABLES = [
    relation("shop", "orders"),
    relation("shop_past", "h"),
    relation("shop", "text", is_delta=False),
]


@pytest.fixture
def selection() -> Selection:
    by_name = {(table.schema, table.identifier): table for table in TABLES}
    return Selection(
        "widen_columns",
        {"nodes": {node["name"]: node for node in NODES}},
        "shop",
        lambda schema, name: by_name.get((schema.lower(), name)),
        lambda schema: [table for table in TABLES if table.schema == schema],
    )


@pytest.mark.parametrize(
    ("models", "relations", "schema", "expected"),
    [
        ("orders", None, None, ["shop.orders"]),
        (["orders", "history"], None, None, ["shop.orders", "shop_past.h"]),
        (None, "orders", None, ["shop.orders"]),
        (None, ["shop_past.`h`"], None, ["shop_past.h"]),
        (["orders", "orders"], ["SHOP.orders"], None, ["shop.orders"]),
        (None, ["shop.text"], None, ["shop.text"]),
        (None, None, "shop", ["shop.orders"]),
        ("history", "orders", "shop", ["shop_past.h", "shop.orders"]),
    ],
)
def test_tables_are_selected_by_model_by_name_and_by_schema(
    selection: Selection, models, relations, schema, expected: list[str]
):
    found = selection.relations(models, relations, schema)
    assert [f"{table.schema}.{table.identifier}" for table in found] == expected


@pytest.mark.parametrize(
    ("models", "relations", "schema", "message"),
    [
        (None, None, None, "say which tables, as `models: [name]`"),
        ([], [], None, "say which tables"),
        ("order", None, None, "no model, seed or snapshot named 'order' in this project; there"),
        ("is_right", None, None, "there are: codes, history, orders"),
        ("codes", None, None, "there is no table 'shop.codes'"),
        (
            None,
            "a.b.c",
            None,
            "'a.b.c' is not a table's name; write schema.table, or table for shop",
        ),
        (None, "shop.nothing", None, "there is no table 'shop.nothing'"),
        (None, None, "nowhere", "there is no Delta table in schema 'nowhere'"),
    ],
)
def test_a_missing_object_is_an_error_that_names_the_operation(
    selection: Selection, models, relations, schema, message: str
):
    with pytest.raises(CompilationError) as error:
        selection.relations(models, relations, schema)
    assert error.value.msg.startswith("widen_columns: ")
    assert message in error.value.msg


def test_a_text_that_is_not_a_name_is_an_error(selection: Selection):
    with pytest.raises(DbtRuntimeError, match="is not a name"):
        selection.relations(None, "shop..orders", None)
