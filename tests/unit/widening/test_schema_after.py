"""The schema after a plan."""

from pyspark.sql.types import CharType, LongType, StructField, StructType

from dbt.adapters.deltawiden.sql.describe_parser import CHAR_VARCHAR_KEY, with_char_types
from dbt.adapters.deltawiden.widening.schema_after import SchemaChanges, schema_after
from tests.unit.schemas import schema

BEFORE = schema(
    {"id": "int", "s": {"x": "int", "a": [{"y": "int", "z": "int"}]}, "m": ("int", {"v": "int"})}
)


def test_every_change_is_made_at_its_place():
    changes = SchemaChanges(
        types={("s", "a", "element", "y"): LongType(), ("m", "key"): LongType()},
        new={("m", "value"): (StructField("w", LongType()),)},
        dropped=frozenset({("s", "x")}),
    )
    assert schema_after(changes, BEFORE) == schema(
        {
            "id": "int",
            "s": {"a": [{"y": "bigint", "z": "int"}]},
            "m": ("bigint", {"v": "int", "w": "bigint"}),
        }
    )


def test_columns_without_a_change_are_the_same_objects():
    after = schema_after(SchemaChanges(types={("id",): LongType()}), BEFORE)
    assert after["id"].dataType == LongType()
    assert after["s"] is BEFORE["s"]
    assert after["m"] is BEFORE["m"]


def test_a_char_is_still_declared_and_what_was_declared_beside_it_is_not():
    declared = {CHAR_VARCHAR_KEY: "struct<C:char(5),n:int>"}
    inside = schema({"c": "string", "n": "int"})
    before = StructType([StructField("s", inside, metadata=declared)])
    changes = SchemaChanges(
        types={("s", "n"): LongType()}, new={("s",): (StructField("added", LongType()),)}
    )
    (after,) = with_char_types(schema_after(changes, before)).fields
    assert after.dataType == StructType(
        [
            StructField("c", CharType(5)),
            StructField("n", LongType()),
            StructField("added", LongType()),
        ]
    )
