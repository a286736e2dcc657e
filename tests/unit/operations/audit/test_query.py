"""What an audit compares of two schemas."""

from typing import Any

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.operations.audit.compared import compared_columns
from dbt.adapters.deltawiden.operations.audit.query import Sides, audit_sql
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


def sides(**types: Any) -> Sides:
    both = having(id="int", **types)
    keys = key_columns(["id"], both, both)
    return Sides("select * from model_rows; ", "orders", keys, compared_columns(both, both).columns)


def test_each_side_is_read_once_however_many_columns_there_are():
    compared = sides(**{f"c{number}": "double" for number in range(50)})
    for text in (compared.keys_sql(), compared.rows_sql("found")):
        assert text.count("model_rows") == 1
        assert text.count("orders") == 1
        assert ";" not in text
    text = audit_sql(compared, "found", {("c1",): [parse_type("float")]})
    assert "try_cast(try_cast(p.`c1` as float) as double) <=> s.`c1`" in text


def test_rows_with_a_value_that_spark_has_no_hash_of_all_differ():
    assert "xxhash64" in sides(c="int", s={"a": "string"}).keys_sql()
    for data_type in (["int"], ("string", "int"), {"a": ["int"]}):
        text = sides(c="int", d=data_type).keys_sql()
        assert "xxhash64" not in text
        assert "null as p" in text


def test_an_earlier_type_that_spark_can_not_convert_is_left_out():
    earlier = {("c1",): [parse_type("float"), parse_type("date")]}
    text = audit_sql(sides(c1="double"), "found", earlier)
    assert "as float" in text
    assert "as date" not in text
