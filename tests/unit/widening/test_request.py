"""Type changes that a person requests."""

import pytest
from hypothesis import given
from pyspark.sql.types import StringType, StructField, StructType

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.describe_parser import CHAR_VARCHAR_KEY
from dbt.adapters.deltawiden.sql.identifiers import path_sql
from dbt.adapters.deltawiden.widening.request import InvalidRequest, find_leaf, read_request
from tests.unit.schemas import data_type, schema
from tests.unit.strategies import names

TABLE = schema(
    {
        "id": "bigint",
        "Amount": "int",
        "s": {"x": "int", "my col": "float", "a.b": {"c": "int"}},
        "arr": [{"x": "int"}],
        "m": ("int", ["int"]),
    }
)


@pytest.mark.parametrize(
    ("path", "found", "current"),
    [
        ("Amount", ("Amount",), "int"),
        ("amount", ("Amount",), "int"),
        ("S.X", ("s", "x"), "int"),
        ("s.`My Col`", ("s", "my col"), "float"),
        ("s.`a.b`.c", ("s", "a.b", "c"), "int"),
        ("arr.element.x", ("arr", "element", "x"), "int"),
        ("arr.ELEMENT.x", ("arr", "element", "x"), "int"),
        ("m.key", ("m", "key"), "int"),
        ("m.value.element", ("m", "value", "element"), "int"),
    ],
)
def test_a_leaf_is_found_at_any_depth_and_in_any_case(path: str, found, current: str):
    assert read_request({path: "double"}, TABLE) == (
        TypeChange(found, data_type(current), data_type("double")),
    )


def test_the_changes_are_in_the_order_of_the_request():
    requested = read_request({"s.x": "BIGINT", "amount": "decimal(12, 2)"}, TABLE)
    assert requested == (
        TypeChange(("s", "x"), data_type("int"), data_type("bigint")),
        TypeChange(("Amount",), data_type("int"), data_type("decimal(12,2)")),
    )


@pytest.mark.parametrize(
    ("path", "wanted", "expected"),
    [
        ("amounts", "bigint", "no such column or field; there are: id, Amount, s, arr, m"),
        ("s.y", "bigint", "no such column or field; there are: s.x, s.`my col`, s.`a.b`"),
        ("arr.x", "bigint", "there are: arr.element"),
        ("m.values", "bigint", "there are: m.key, m.value"),
        ("s", "bigint", "is not a leaf; name one of: s.x, s.`my col`, s.`a.b`"),
        ("arr", "bigint", "is not a leaf; name one of: arr.element"),
        ("arr.element", "bigint", "is not a leaf; name one of: arr.element.x"),
        ("m", "bigint", "is not a leaf; name one of: m.key, m.value"),
        ("amount", "money", "'money' is not an atomic type"),
        ("amount", "decimal(40,2)", "out of range"),
        ("s..x", "bigint", "is not a name"),
        ("", "bigint", "is not a name"),
    ],
)
def test_a_wrong_path_or_type_is_refused_with_the_valid_ones(path: str, wanted: str, expected: str):
    with pytest.raises(InvalidRequest) as refused:
        read_request({path: wanted}, TABLE)
    assert str(refused.value).startswith(f"{path}: ")
    assert expected in str(refused.value)


@pytest.mark.parametrize("path", ["id.x", "amount.value", "m.key.element"])
def test_a_path_that_goes_on_past_a_leaf_is_refused_without_an_empty_list(path: str):
    with pytest.raises(InvalidRequest) as refused:
        read_request({path: "bigint"}, TABLE)
    assert not str(refused.value).rstrip().endswith(":")


def test_all_wrong_changes_are_in_one_error():
    with pytest.raises(InvalidRequest) as refused:
        read_request({"amounts": "bigint", "id": "bigint", "s": "int", "amount": "money"}, TABLE)
    assert [line.split(":")[0] for line in str(refused.value).splitlines()] == [
        "amounts",
        "s",
        "amount",
    ]


def test_a_varchar_column_is_changed_from_its_declared_type():
    column = StructField("v", StringType(), metadata={CHAR_VARCHAR_KEY: "varchar(5)"})
    (change,) = read_request({"v": "varchar(10)"}, StructType([column]))
    assert (change.from_type, change.to_type) == (data_type("varchar(5)"), data_type("varchar(10)"))


@given(names, names)
def test_a_leaf_with_any_name_is_found(column: str, field: str):
    table = schema({column: {field: "int"}})
    path = (column, field)
    assert find_leaf(path, table) == (path, data_type("int"))
    (change,) = read_request({path_sql(path): "bigint"}, table)
    assert change.path == path
