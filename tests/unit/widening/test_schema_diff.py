"""The differences between the schemas of a source and a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark
from pyspark.sql.types import CharType, LongType, StructField, StructType

from dbt.adapters.deltawiden.sql.describe_parser import CHAR_VARCHAR_KEY, with_char_types
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.side_by_side import AmbiguousName, by_folded_name
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening.schema_diff import (
    SchemaChanges,
    SchemaDifference,
    TypeDifference,
    compare,
    schema_after,
)
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment
from tests.unit.schemas import schema
from tests.unit.strategies import tables_with_sources


def types(difference: SchemaDifference) -> list[tuple[Path, str, str, StoreAssignment]]:
    return [
        (found.path, type_text(found.table), type_text(found.source), found.assignment)
        for found in difference.types
    ]


def new(difference: SchemaDifference) -> dict[Path, str]:
    return {added.path: type_text(added.field.dataType) for added in difference.new}


def gone(difference: SchemaDifference) -> dict[Path, str]:
    return {
        missing.path: type_text(missing.field.dataType) for missing in difference.missing_in_source
    }


@given(tables_with_sources)
def test_a_schema_does_not_differ_from_itself(sides: tuple[StructType, StructType]):
    table, _ = sides
    assert not compare(table, table)


@given(tables_with_sources, st.randoms())
def test_the_order_of_columns_does_not_matter(sides: tuple[StructType, StructType], random):
    table, source = sides
    mixed = [
        StructType(random.sample(struct.fields, len(struct.fields))) for struct in (source, table)
    ]
    found, found_mixed = compare(source, table), compare(*mixed)
    assert set(found_mixed.types) == set(found.types)
    assert {added.path for added in found_mixed.new} == {added.path for added in found.new}
    assert {missing.path for missing in found_mixed.missing_in_source} == {
        missing.path for missing in found.missing_in_source
    }


@given(tables_with_sources)
def test_new_fields_are_missing_fields_in_the_other_direction(sides: tuple[StructType, StructType]):
    table, source = sides
    there, back = compare(source, table), compare(table, source)
    assert (there.new, there.missing_in_source) == (back.missing_in_source, back.new)


@given(tables_with_sources)
def test_only_a_type_that_cannot_store_every_value_is_a_difference(sides):
    table, source = sides
    for difference in compare(source, table).types:
        assert difference.assignment is store_assignment(difference.source, difference.table)
        assert difference.assignment is not StoreAssignment.EXACT


def test_a_wider_source_is_a_difference_at_its_leaf():
    found = compare(schema({"id": "int", "v": "bigint"}), schema({"id": "int", "v": "int"}))
    assert types(found) == [(("v",), "int", "bigint", StoreAssignment.LOSSY)]
    assert (found.new, found.missing_in_source) == ((), ())


@pytest.mark.parametrize(
    ("source", "table"),
    [
        ("int", "bigint"),
        ("tinyint", "double"),
        ("decimal(10,2)", "decimal(12,4)"),
        ("void", "int"),
        ("void", ["int"]),
        ("void", {"a": "int"}),
        (["void"], ["int"]),
        ("date", "timestamp_ntz"),
        ("int", "string"),
        ("varchar(5)", "string"),
        (spark.StringType("UTF8_LCASE"), "string"),
    ],
)
def test_a_source_that_the_table_can_hold_is_no_difference(source, table):
    assert not compare(schema({"v": source}), schema({"v": table}))


def test_whether_a_column_may_be_null_or_has_a_comment_is_no_difference():
    table = StructType([StructField("v", spark.IntegerType(), False, {"comment": "the value"})])
    assert not compare(schema({"v": "int"}), table)


NESTED = [
    ({"x": "bigint"}, {"x": "int"}, ("v", "x")),
    (["bigint"], ["int"], ("v", "element")),
    ([{"x": "bigint"}], [{"x": "int"}], ("v", "element", "x")),
    (("bigint", "int"), ("int", "int"), ("v", "key")),
    (("int", {"x": "bigint"}), ("int", {"x": "int"}), ("v", "value", "x")),
    (({"x": "bigint"}, "int"), ({"x": "int"}, "int"), ("v", "key", "x")),
    ({"a": {"b.c": ["bigint"]}}, {"a": {"b.c": ["int"]}}, ("v", "a", "b.c", "element")),
]


@pytest.mark.parametrize(("source", "table", "path"), NESTED)
def test_a_wider_leaf_is_found_at_any_depth(source, table, path: Path):
    found = compare(schema({"v": source}), schema({"v": table}))
    assert types(found) == [(path, "int", "bigint", StoreAssignment.LOSSY)]


def test_two_leaves_of_one_column_are_two_differences_in_the_order_of_the_table():
    found = compare(
        schema({"m": ("bigint", "bigint"), "a": "bigint"}),
        schema({"a": "int", "m": ("int", "int")}),
    )
    assert [difference.path for difference in found.types] == [("a",), ("m", "key"), ("m", "value")]


def test_new_and_missing_columns_are_separate():
    found = compare(schema({"id": "int", "b": "int"}), schema({"id": "int", "a": "string"}))
    assert new(found) == {("b",): "int"}
    assert gone(found) == {("a",): "string"}
    assert not found.types


@pytest.mark.parametrize(
    ("wrap", "parent"),
    [
        (lambda struct: struct, ("v",)),
        (lambda struct: [struct], ("v", "element")),
        (lambda struct: ("int", struct), ("v", "value")),
        (lambda struct: (struct, "int"), ("v", "key")),
        (lambda struct: {"w": [struct]}, ("v", "w", "element")),
    ],
)
def test_new_and_missing_fields_are_found_at_any_depth(wrap, parent: Path):
    found = compare(
        schema({"v": wrap({"x": "int", "b": "date"})}),
        schema({"v": wrap({"a": "string", "x": "int"})}),
    )
    assert new(found) == {(*parent, "b"): "date"}
    assert gone(found) == {(*parent, "a"): "string"}


def test_a_new_struct_is_one_new_column_with_all_its_fields():
    found = compare(schema({"s": {"a": "int", "b": ["int"]}}), schema({}))
    assert new(found) == {("s",): "struct<a: int, b: array<int>>"}


def test_names_are_compared_without_case_and_given_in_the_spelling_of_the_table():
    found = compare(
        schema({"amount": "bigint", "S": {"X": "bigint", "New": "int"}}),
        schema({"Amount": "int", "s": {"x": "int", "Old": "int"}}),
    )
    assert [difference.path for difference in found.types] == [("Amount",), ("s", "x")]
    assert new(found) == {("s", "New"): "int"}
    assert gone(found) == {("s", "Old"): "int"}


def test_reordered_fields_of_a_struct_are_no_difference():
    assert not compare(
        schema({"s": {"b": "int", "a": "string"}}), schema({"s": {"a": "string", "b": "int"}})
    )


@pytest.mark.parametrize(
    ("source", "table"),
    [
        ({"a": "int"}, ["int"]),
        (["int"], {"a": "int"}),
        (("int", "int"), ["int"]),
        ({"a": "int"}, "string"),
        ("string", {"a": "int"}),
    ],
)
def test_another_kind_of_type_is_one_impossible_difference(source, table):
    found = compare(schema({"v": source}), schema({"v": table}))
    assert [(difference.path, difference.assignment) for difference in found.types] == [
        (("v",), StoreAssignment.IMPOSSIBLE)
    ]


@pytest.mark.parametrize("twice", [{"a": "int", "A": "int"}, {"größe": "int", "GRÖßE": "int"}])
def test_two_columns_that_differ_in_case_only_are_ambiguous(twice: dict[str, str]):
    one, other = twice
    for sides in ((schema(twice), schema({})), (schema({}), schema(twice))):
        with pytest.raises(AmbiguousName, match="differ in case only") as ambiguous:
            compare(*sides)
        assert f"'{one}' and '{other}'" in str(ambiguous.value)


def test_fields_are_indexed_by_their_names_in_lower_case():
    indexed = by_folded_name(schema({"Amount": "int", "id": "int"}))
    assert {folded: field.name for folded, field in indexed.items()} == {
        "amount": "Amount",
        "id": "id",
    }


def test_two_nested_fields_that_differ_in_case_only_are_ambiguous_and_located():
    twice = schema({"s": [{"x": "int", "X": "int"}]})
    with pytest.raises(AmbiguousName, match=r"'x' and 'X' in s\.element"):
        compare(twice, schema({"s": [{"x": "int"}]}))


def test_a_schema_difference_is_false_only_if_it_is_empty():
    assert not SchemaDifference()
    leaf = TypeDifference(("v",), spark.IntegerType(), spark.LongType(), StoreAssignment.LOSSY)
    assert SchemaDifference(types=(leaf,))
    assert compare(schema({"a": "int"}), schema({}))
    assert compare(schema({}), schema({"a": "int"}))


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
