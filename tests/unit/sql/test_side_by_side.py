"""The pairs of leaves of two types."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from dbt.adapters.deltawiden.sql.side_by_side import AmbiguousName, Pair, by_position, side_by_side
from dbt.adapters.deltawiden.sql.types import leaves
from tests.unit.strategies import atoms, nested

INT, LONG, TEXT = spark.IntegerType(), spark.LongType(), spark.StringType()


def struct(**fields: spark.DataType) -> StructType:
    return StructType([StructField(name, data_type) for name, data_type in fields.items()])


def seen(pairs: list[Pair]) -> list[tuple[object, ...]]:
    return [
        (
            pair.path,
            pair.left and pair.left.dataType,
            pair.right and pair.right.dataType,
            pair.in_collection,
        )
        for pair in pairs
    ]


def test_fields_are_paired_by_name_in_the_order_of_the_right_type():
    left = struct(B=INT, only_left=TEXT, a=struct(x=INT))
    right = struct(a=struct(X=LONG), only_right=TEXT, b=LONG)
    assert seen(list(side_by_side(left, right))) == [
        (("a", "X"), INT, LONG, False),
        (("only_right",), None, TEXT, False),
        (("b",), INT, LONG, False),
        (("only_left",), TEXT, None, False),
    ]


def test_fields_can_be_paired_by_position():
    pairs = side_by_side(struct(a=INT, b=TEXT), struct(c=LONG), ("s",), by_position)
    assert seen(list(pairs)) == [(("s", "c"), INT, LONG, False), (("s", "b"), TEXT, None, False)]


def test_collections_have_an_element_or_a_key_and_a_value():
    left = struct(m=MapType(INT, ArrayType(struct(x=INT))))
    right = struct(m=MapType(LONG, ArrayType(struct(x=INT))))
    assert seen(list(side_by_side(left, right))) == [
        (("m", "key"), INT, LONG, True),
        (("m", "value", "element", "x"), INT, INT, True),
    ]


def test_different_kinds_of_types_are_one_pair():
    assert seen(list(side_by_side(struct(a=struct(x=INT)), struct(a=TEXT)))) == [
        (("a",), struct(x=INT), TEXT, False)
    ]


def test_names_that_differ_in_case_only_are_an_error():
    with pytest.raises(AmbiguousName, match="'a' and 'A' in s differ in case only"):
        list(side_by_side(struct(a=INT, A=INT), struct(a=INT), ("s",)))


@given(nested(st.tuples(atoms, atoms)))
def test_the_leaves_of_two_types_of_one_shape_are_paired_in_their_order(sides):
    left, right = sides
    pairs = [(pair.left.dataType, pair.right.dataType) for pair in side_by_side(left, right)]
    assert pairs == list(zip(leaves(left), leaves(right), strict=True))
