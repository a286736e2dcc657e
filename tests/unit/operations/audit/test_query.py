"""What an audit compares of two schemas."""

from typing import Any

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.operations.audit.query import (
    audit_sql,
    compared_columns,
)
from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.widening.matched_rows import key_columns
from tests.unit.schemas import schema


def having(**types: Any) -> StructType:
    return schema(types)


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
