"""The casts of views, and the views in the text of a query plan."""

from collections.abc import Sequence
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql import types as spark
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.explain import output_columns
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.views.finder import ListedView, ViewFinder
from dbt.adapters.deltawiden.views.stale_views import (
    LossyCast,
    View,
    lossy_casts,
    reads_table,
    stale_views,
    update_commands,
    views_in,
)

INT, LONG = spark.IntegerType(), spark.LongType()
ALTER = "alter view `y`.`ou``ter` with schema type evolution"
CAST = LossyCast(("n",), LONG, INT)
INNER, OUTER = ("spark_catalog", "x", "inner"), ("spark_catalog", "y", "ou`ter")
PLAN = """00 Filter (text#1 = x
01 y)
02 +- SubqueryAlias spark_catalog.y.`ou``ter`
03    +- View (`spark_catalog`.`y`.`ou``ter`, [id#1069, b#1070])
04       +- Project [cast(id#1071 as int) AS id#1069]
05          :- SubqueryAlias spark_catalog.x.inner
06          :  +- View (`spark_catalog`.`x`.`inner`, [id#1071])
07          :     +- SubqueryAlias spark_catalog.x.t
08          :        +- Relation spark_catalog.x.t[id#1076L] parquet
09          +- View (`temporary`, [id#1071])
10 +- View (`spark_catalog`.`x`.`inner`, [id#1072])
"""


def schema(**types: spark.DataType) -> StructType:
    fields = StructType()
    for name, data_type in types.items():
        fields.add(name, data_type)
    return fields


def test_views_of_a_plan_know_the_views_that_read_them():
    found = [(view.line, view.name, view.outer) for view in views_in(PLAN)]
    assert found == [(3, OUTER, ()), (6, INNER, (OUTER,)), (10, INNER, ())]


@pytest.mark.parametrize(
    ("table", "is_read"),
    [(("x", "t"), True), (("X", "T"), True), (("y", "t"), False), (("x", "t2"), False)],
)
def test_the_tables_of_a_plan(table: Path, is_read: bool):
    assert reads_table(PLAN, table, lambda: "spark_catalog") is is_read


def test_a_table_of_another_catalog_is_another_table():
    assert reads_table("+- SubqueryAlias ice.x.t", ("x", "t"), lambda: "ICE")
    assert not reads_table("+- SubqueryAlias ice.x.t", ("x", "t"), lambda: "spark_catalog")


@pytest.mark.parametrize("outer_follows", [True, False])
def test_a_view_over_a_stale_view_is_stale_unless_it_follows(outer_follows: bool):
    inner, outer = View(INNER, casts=(CAST,)), View(OUTER, follows=outer_follows)
    stale = stale_views(views_in(PLAN), {INNER: inner, OUTER: outer})
    assert stale == ([inner] if outer_follows else [inner, outer])


def test_a_view_without_casts_is_not_stale():
    assert stale_views(views_in(PLAN), {INNER: View(INNER), OUTER: View(OUTER)}) == []


def test_columns_are_compared_by_the_names_of_the_query():
    query = schema(new=LONG, b=LONG, a=INT)
    assert lossy_casts(query, schema(x=INT, y=INT), ["A", "B"]) == (LossyCast(("y",), LONG, INT),)


def test_equal_names_are_compared_in_their_order():
    query = StructType().add("n", INT).add("n", LONG)
    assert lossy_casts(query, schema(a=INT, b=INT), ["n", "n"]) == (LossyCast(("b",), LONG, INT),)


def test_fields_of_a_struct_are_compared_by_position():
    query, view = schema(a=LONG, b=INT), schema(b=LONG, a=INT)
    assert lossy_casts(schema(s=query), schema(s=view), ["s"]) == ()


def test_a_struct_with_another_number_of_fields_can_not_be_cast():
    query, view = schema(s=schema(a=INT, b=INT)), schema(s=schema(a=INT))
    (cast,) = lossy_casts(query, view, ["s"])
    assert cast.fails
    assert cast.text == "s.b: int in its query, no field in the view"


def test_every_depth_is_compared():
    def nested(key: spark.DataType, value: spark.DataType) -> StructType:
        return schema(m=spark.MapType(key, spark.ArrayType(schema(x=value))))

    casts = lossy_casts(nested(LONG, LONG), nested(INT, INT), ["m"])
    assert [cast.path for cast in casts] == [("m", "key"), ("m", "value", "element", "x")]


def test_a_cast_that_loses_nothing_is_not_reported():
    query = schema(a=INT, b=LONG, c=spark.VarcharType(3))
    assert lossy_casts(query, schema(a=LONG, b=spark.StringType(), c=spark.StringType()), []) == ()


@pytest.mark.parametrize(
    ("can_alter", "models", "commands"),
    [
        (True, {}, [ALTER]),
        (True, {("y", "ou`ter"): "m"}, [ALTER, "dbt run --select m"]),
        (False, {("y", "ou`ter"): "m"}, ["dbt run --select m"]),
        (False, {}, ["dbt run --select ou`ter, if that is a model; else create the view again"]),
    ],
)
def test_the_command_that_repairs_a_view_is_named(
    can_alter: bool, models: dict[Path, str], commands: list[str]
):
    assert update_commands(View(OUTER), models, can_alter) == commands


@pytest.mark.parametrize(
    ("query", "namespace", "names"),
    [
        ("select * from Shop.`orders`", "spark_catalog.x", [("shop", "orders")]),
        (
            "select * from spark_catalog.shop.orders",
            "other.x",
            [("spark_catalog", "shop", "orders")],
        ),
        ("select * from shop.orders", "other.shop", []),
        ("select * from spark_catalog.shop.orders", "spark_catalog.x", [("shop", "orders")]),
        ("select * from orders", "spark_catalog.SHOP", [("orders",)]),
        ("select * from orders", "spark_catalog.x", []),
        ("select * from orders", "other.shop", []),
        ("select * from shop.orders_2, x.orders", "spark_catalog.shop", []),
    ],
)
def test_a_view_reads_a_table_by_a_name_that_its_namespace_completes(
    query: str, namespace: str, names: list[Path]
):
    view = ListedView(OUTER, query, False, tuple(namespace.split(".")))
    assert view.names_of(("shop", "orders")) == names


@pytest.mark.parametrize(
    ("shown", "columns"),
    [
        ("[`x, y`, `a``b`]", ("x, y", "a`b")),
        ("[x y, amount]", ("x y", "amount")),
        ("[]", ()),
        ("", ()),
    ],
)
def test_the_columns_of_a_view_are_read_as_spark_4_and_spark_3_show_them(
    shown: str, columns: tuple[str, ...]
):
    assert output_columns(shown) == columns


def test_a_view_keeps_its_own_names_and_number_of_columns():
    view = ListedView(OUTER, "", False, (), ("N", "n"), ("a", "b"))
    query = StructType().add("n", INT).add("new", INT).add("n", LONG)
    assert view.schema_with(query) == schema(a=INT, b=LONG)


class Statements(SqlBackend):
    """Records the statements. It has three schemas, and no views can be listed in them."""

    def __init__(self, error: str) -> None:
        self.error = error
        self.statements: list[str] = []

    def fetch_rows(self, query: str) -> Sequence[Any]:
        self.statements.append(query)
        if query == "show schemas":
            return [("a",), ("b",), ("c",)]
        raise DbtDatabaseError(self.error)


@pytest.mark.parametrize(
    ("error", "listed"),
    [("Catalog h does not support views.", 1), ("[SCHEMA_NOT_FOUND] The schema is gone", 3)],
)
def test_only_a_catalog_without_views_ends_the_list(error: str, listed: int):
    backend = Statements(error)
    assert ViewFinder(backend).candidates([("x", "t")]) == []
    assert len([each for each in backend.statements if each.startswith("show views")]) == listed
