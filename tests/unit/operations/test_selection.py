"""The selection of the tables of an operation."""

from dataclasses import replace

import pytest
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.deltawiden.operations.selection import Selection
from dbt.adapters.deltawiden.relation import DeltaWidenRelation

NODES = [
    {"name": "orders", "resource_type": "model", "schema": "shop", "alias": "orders"},
    {"name": "history", "resource_type": "snapshot", "schema": "shop_past", "alias": "h"},
    {"name": "codes", "resource_type": "seed", "schema": "shop", "alias": "codes"},
    {
        "name": "far",
        "resource_type": "model",
        "database": "lake",
        "schema": "shop",
        "alias": "far",
    },
    {
        "name": "small",
        "resource_type": "model",
        "schema": "shop",
        "alias": "small",
        "config": {"materialized": "ephemeral"},
    },
    {"name": "is_right", "resource_type": "test", "schema": "shop", "alias": "is_right"},
]


def relation(
    schema: str, name: str, is_delta: bool = True, catalog: str | None = None
) -> DeltaWidenRelation:
    return DeltaWidenRelation.create(
        database=catalog, schema=schema, identifier=name, is_delta=is_delta
    )


TABLES = [
    relation("shop", "orders"),
    relation("shop_past", "h"),
    relation("shop", "text", is_delta=False),
    relation("shop", "far", catalog="lake"),
    relation("shop", "orders", catalog="lake"),
]


@pytest.fixture
def selection() -> Selection:
    by_name = {(table.database, table.schema, table.identifier): table for table in TABLES}
    return Selection(
        "widen_columns",
        {"nodes": {node["name"]: node for node in NODES}},
        "shop",
        lambda catalog, schema, name: by_name.get((catalog, schema.lower(), name)),
        lambda catalog, schema: [
            table for table in TABLES if (table.database, table.schema) == (catalog, schema)
        ],
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
        ("far", None, None, ["lake.shop.far"]),
        (None, ["lake.shop.orders", "orders"], None, ["lake.shop.orders", "shop.orders"]),
        (None, None, "lake.shop", ["lake.shop.far", "lake.shop.orders"]),
    ],
)
def test_tables_are_selected_by_model_by_name_and_by_schema(
    selection: Selection, models, relations, schema, expected: list[str]
):
    found = selection.relations(models, relations, schema)
    assert [table.render() for table in found] == expected


@pytest.mark.parametrize(
    ("models", "relations", "schema", "message"),
    [
        (None, None, None, "say which tables, as `models: [name]`"),
        ([], [], None, "say which tables"),
        ("order", None, None, "no model, seed or snapshot named 'order' in this project; there"),
        ("is_right", None, None, "there are: codes, far, history, orders, small"),
        ("codes", None, None, "there is no table 'shop.codes'"),
        (
            None,
            "a.b.c.d",
            None,
            "'a.b.c.d' is not a table's name; write catalog.schema.table, schema.table, or table "
            "for shop",
        ),
        (None, "shop.nothing", None, "there is no table 'shop.nothing'"),
        (None, "far", None, "there is no table 'shop.far'"),
        (None, "lake.shop.nothing", None, "there is no table 'lake.shop.nothing'"),
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


def test_with_a_catalog_in_the_target_shorter_names_are_in_it(selection: Selection):
    in_lake = replace(selection, target_catalog="lake")
    assert [table.render() for table in in_lake.relations(None, "far", None)] == ["lake.shop.far"]
    found = in_lake.relations(None, "shop.orders", "shop")
    assert {table.render() for table in found} == {"lake.shop.orders", "lake.shop.far"}
    assert in_lake.catalog_and_schema("other.`a.b`") == ("other", "a.b")


def two_packages(selection: Selection) -> Selection:
    nodes = [
        {
            "unique_id": f"model.{package}.{name}.v{version}",
            "package_name": package,
            "name": name,
            "version": version,
            "latest_version": 2,
            "resource_type": "model",
            "schema": package,
            "alias": f"{name}{version}",
        }
        for package, name, version in [
            ("own", "orders", 1),
            ("own", "orders", 2),
            ("other", "orders", 2),
            ("other", "bills", 2),
        ]
    ]
    return replace(selection, graph={"nodes": {node["unique_id"]: node for node in nodes}})


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("orders.v1", "model.own.orders.v1"),
        ("own.orders.v1", "model.own.orders.v1"),
        ("other.orders.v2", "model.other.orders.v2"),
        ("own.orders", "model.own.orders.v2"),
        ("bills", "model.other.bills.v2"),
    ],
)
def test_a_name_can_start_with_the_package(selection: Selection, name: str, found: str):
    both = two_packages(selection)
    assert both.node(name)["unique_id"] == found
    (named,) = both.nodes_named([name, found.removeprefix("model.")], "incremental")
    assert named["unique_id"] == found


@pytest.mark.parametrize("name", ["orders", "orders.v2"])
def test_a_name_in_two_packages_is_refused(selection: Selection, name: str):
    with pytest.raises(CompilationError, match=r"name one of them: other\.orders\.v2, own\.orders"):
        two_packages(selection).node(name)


def test_models_of_one_name_in_two_packages_can_both_be_named(selection: Selection):
    found = two_packages(selection).nodes_named(["own.orders", "other.orders"], "incremental")
    assert [node["package_name"] for node in found] == ["own", "other"]


@pytest.mark.parametrize(("name", "kind"), [("codes", "a seed"), ("small", "an ephemeral model")])
def test_what_no_run_decides_on_is_not_planned(selection: Selection, name: str, kind: str):
    nodes = {node["name"]: {**node, "unique_id": node["name"]} for node in NODES}
    with pytest.raises(CompilationError, match=f"'{name}' is {kind}; name other models"):
        replace(selection, graph={"nodes": nodes}).nodes_to_plan([name])
