"""Types from the output of DESCRIBE. tests/functional checks that output on a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.sql.describe_parser import (
    CHAR_VARCHAR_KEY,
    AmbiguousType,
    declared_type,
    names_with_default,
    partition_names,
    read_described,
    read_schema,
)
from dbt.adapters.deltawiden.sql.types import UnreadableType
from tests.unit.schemas import data_type

atomic = st.sampled_from(
    [
        spark.ByteType(),
        spark.LongType(),
        spark.DecimalType(38, 18),
        spark.StringType(),
        spark.StringType("UTF8_LCASE"),
        spark.TimestampNTZType(),
        spark.NullType(),
        spark.VariantType(),
        spark.DayTimeIntervalType(0, 3),
        spark.DayTimeIntervalType(1, 1),
        spark.YearMonthIntervalType(0, 1),
        spark.CharType(3),
        spark.VarcharType(5),
    ]
)
# DESCRIBE doesn't quote names. A name with these characters makes the text ambiguous.
plain_names = st.text(st.characters(exclude_characters=":,<>`", codec="utf-8"), min_size=1)
any_names = st.text(st.characters(codec="utf-8"), min_size=1)


def types_with(names: st.SearchStrategy[str]) -> st.SearchStrategy[DataType]:
    def inside(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
        fields = st.lists(st.tuples(names, inner), min_size=1, unique_by=lambda f: f[0].lower())
        return st.one_of(
            inner.map(ArrayType),
            st.tuples(inner, inner).map(lambda pair: MapType(*pair)),
            fields.map(lambda pairs: StructType([StructField(*pair) for pair in pairs])),
        )

    return st.recursive(atomic, inside, max_leaves=8)


@given(types_with(plain_names))
def test_a_shown_type_is_read_back_as_the_same_type(data_type: DataType):
    assert read_described(data_type.simpleString()) == data_type


@given(types_with(any_names))
def test_another_name_is_never_read_as_another_shape_without_its_characters(data_type: DataType):
    try:
        found = read_described(data_type.simpleString())
    except AmbiguousType:
        return
    # Two structs can have one text, where a name looks like a type. Then this text is the reader's.
    assert found.simpleString() == data_type.simpleString()


@pytest.mark.parametrize(
    "text",
    [
        "struct<a:int,... 5 more fields>",
        "struct<a<b:int>",
        "struct<a,b:int>",
        "struct<:int>",
        "array<int",
        "map<int>",
        "int>",
        "geometry(any)",
        "",
    ],
)
def test_a_truncated_or_unknown_type_is_ambiguous(text: str):
    with pytest.raises(AmbiguousType):
        read_described(text)


def test_the_server_is_queried_only_for_ambiguous_types():
    answers = {
        "select * from t": [("id", "int"), ("s", "struct<a,b:int,plain:array<int>>")],
        "select x.* from (select `s` as x from `t`)": [("a,b", "int"), ("plain", "array<int>")],
    }
    fetch = {f"describe query {query}": answers[query] for query in answers}
    found = read_schema("select * from t", "`t`", fetch.pop)
    assert found.simpleString() == "struct<id:int,s:struct<a,b:int,plain:array<int>>>"
    assert found["s"].dataType.names == ["a,b", "plain"]
    assert fetch == {}


def test_an_unknown_type_keeps_its_text():
    found = read_schema("select g", "`t`", lambda query: [("g", "geometry(4326)")])
    assert found["g"].dataType == UnreadableType("geometry(4326)")


@pytest.mark.parametrize(
    ("column", "declaration", "expected"),
    [
        ("string", "varchar(5)", spark.VarcharType(5)),
        ("string", "char(7)", spark.CharType(7)),
        (["string"], "array<char(5)>", ArrayType(spark.CharType(5))),
        ({"x": "string"}, "struct<x:varchar(5)>", [StructField("x", spark.VarcharType(5))]),
    ],
)
def test_the_declared_length_of_a_column_is_read_from_its_metadata(column, declaration, expected):
    field = StructField("c", data_type(column), metadata={CHAR_VARCHAR_KEY: declaration})
    wanted = StructType(expected) if isinstance(expected, list) else expected
    assert declared_type(field) == wanted


def test_a_column_without_a_readable_declaration_has_its_own_type():
    assert declared_type(StructField("c", spark.StringType())) == spark.StringType()
    comment = StructField("c", spark.StringType(), metadata={"comment": "varchar(5)"})
    assert declared_type(comment) == spark.StringType()
    struct = data_type({"a,b": "string"})
    ambiguous = StructField("c", struct, metadata={CHAR_VARCHAR_KEY: "struct<a,b:char(5)>"})
    assert declared_type(ambiguous) == struct


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([("a", "int")], []),
        # A column can have the name of the heading; the heading has no type.
        ([("# Partition Information", "int")], []),
        (
            [
                ("a", "int"),
                ("`b.c", "string"),
                ("# Partition Information", ""),
                ("# col_name", "data_type"),
                ("```b.c`", "string"),
                ("a.b", "int"),
                ("", ""),
                ("# Clustering Information", ""),
                ("# col_name", "data_type"),
                ("a", "int"),
            ],
            ["`b.c", "a.b"],
        ),
    ],
)
def test_the_partition_columns_stand_under_their_heading(rows, names):
    assert partition_names(rows) == names


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([("a", "int")], []),
        ([("# Column Default Values", "int"), ("a", "int")], []),
        (
            [
                ("a b", "int"),
                ("p", "int"),
                ("# Partition Information", ""),
                ("# col_name", "data_type"),
                ("p", "int"),
                ("", ""),
                ("# Column Default Values", ""),
                ("a b", "int"),
            ],
            ["a b"],
        ),
    ],
)
def test_the_columns_with_a_default_stand_under_their_heading(rows, names):
    assert names_with_default(rows) == names
