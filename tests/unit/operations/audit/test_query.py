"""What an audit compares of two schemas, and by which values it finds rows."""

from typing import Any

import pytest
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.operations.audit.query import (
    NotCompared,
    audit_sql,
    compared_columns,
    key_columns,
)
from dbt.adapters.deltawiden.sql.types import parse_type
from tests.unit.schemas import schema


def having(**types: Any) -> StructType:
    return schema(types)


def keys(name: str, produced: StructType, stored: StructType) -> tuple[str, str]:
    ((_, left, right),) = [
        (k.name, k.produced, k.stored) for k in key_columns([name], produced, stored)
    ]
    return left, right


def test_fields_of_structs_are_compared_by_themselves_and_collections_as_one_value():
    produced = having(id="int", s={"b": "double", "A": "int", "new": "int"}, items=["double"])
    stored = having(items=["float"], S={"a": "int", "b": "float", "old": "int"}, more="int")
    compared = compared_columns(produced, stored)
    assert [(column.path, column.produced_path) for column in compared.columns] == [
        (("items",), ("items",)),
        (("S",), ("s",)),
        (("S", "a"), ("s", "A")),
        (("S", "b"), ("s", "b")),
    ]
    assert sorted(compared.not_stored) == [("S", "new"), ("id",)]


def test_types_that_spark_can_not_convert_are_named():
    compared = compared_columns(having(a="date", b=["int"]), having(a="int", b="int"))
    assert compared.columns == []
    assert list(compared.not_comparable) == ["a (date, int)", "b (array<int>, int)"]


@pytest.mark.parametrize(
    ("produced", "stored", "key_type"),
    [
        ("int", "bigint", "bigint"),
        ("bigint", "int", "bigint"),
        ("decimal(10,4)", "decimal(8,2)", "decimal(10,4)"),
        ("int", "decimal(8,2)", "decimal(12,2)"),
        ("int", "string", "string"),
        ("double", "float", "double"),
        # A char is compared with its spaces, as a text.
        ("string", "char(4)", "string"),
        ("varchar(4)", "string", "string"),
        # A date is a midnight. A time of day that a key has lost is no match.
        ("timestamp_ntz", "date", "timestamp_ntz"),
    ],
)
def test_a_key_is_compared_in_a_type_that_holds_both(produced, stored, key_type):
    value = f"cast(t.`k` as {key_type})"
    assert keys("K", having(k=produced), having(k=stored)) == (
        value.replace("`k`", "`K`"),
        value.replace("`k`", "`K`"),
    )


@pytest.mark.parametrize(
    ("name", "produced", "stored", "message"),
    [
        ("k", "double", "decimal(8,2)", "k is double in the model and decimal"),
        ("k", "timestamp", "timestamp_ntz", "no type holds the values of both"),
        ("k", ["int"], ["int"], "k is array<int> in the model"),
        ("x", "int", "int", "unique_key: the model's query has no column x; it has k"),
        ("k.x", "int", "int", "the model's query has no column k.x"),
        ("lower(k)", "string", "string", "has no column lower(k)"),
    ],
)
def test_a_key_that_finds_no_rows_is_an_error(name, produced, stored, message):
    with pytest.raises(NotCompared) as raised:
        key_columns([name], having(k=produced), having(k=stored))
    assert message in str(raised.value)


def test_a_key_can_be_a_field_or_have_any_name():
    both = having(**{"a b": "int", "s": {"id": "int"}})
    assert keys("s.id", both, both)[0] == "cast(t.`s`.`id` as int)"
    assert keys("a b", both, both)[0] == "cast(t.`a b` as int)"


def test_each_side_is_read_once_however_many_columns_there_are():
    both = having(id="int", **{f"c{number}": "double" for number in range(50)})
    text = audit_sql(
        "select * from model_rows; ",
        "`shop`.`orders`",
        key_columns(["id"], both, both),
        compared_columns(both, both),
        {("c1",): [parse_type("float")]},
    )
    assert text.count("model_rows") == 1
    assert text.count("`shop`.`orders`") == 1
    assert ";" not in text
    assert "try_cast(try_cast(p.`c1` as float) as double) <=> s.`c1`" in text
