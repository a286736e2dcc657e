"""Types from text and as text."""

import pytest
from hypothesis import given
from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.describe_parser import read_described
from dbt.adapters.deltawiden.sql.types import (
    UnknownType,
    UnreadableType,
    contains,
    parse_type,
    type_sql,
    type_text,
)
from tests.unit.schemas import data_type
from tests.unit.strategies import atoms, decimals

SPELLINGS = {
    "tinyint": spark.ByteType(),
    "byte": spark.ByteType(),
    "smallint": spark.ShortType(),
    "short": spark.ShortType(),
    "int": spark.IntegerType(),
    "integer": spark.IntegerType(),
    "bigint": spark.LongType(),
    "long": spark.LongType(),
    "float": spark.FloatType(),
    "real": spark.FloatType(),
    "double": spark.DoubleType(),
    "decimal": spark.DecimalType(10, 0),
    "dec": spark.DecimalType(10, 0),
    "numeric": spark.DecimalType(10, 0),
    "decimal(7)": spark.DecimalType(7, 0),
    "decimal(12,2)": spark.DecimalType(12, 2),
    "numeric(38,38)": spark.DecimalType(38, 38),
    "string": spark.StringType(),
    "char(3)": spark.CharType(3),
    "character(3)": spark.CharType(3),
    "varchar(255)": spark.VarcharType(255),
    "binary": spark.BinaryType(),
    "boolean": spark.BooleanType(),
    "date": spark.DateType(),
    "timestamp": spark.TimestampType(),
    "timestamp_ltz": spark.TimestampType(),
    "timestamp_ntz": spark.TimestampNTZType(),
    "void": spark.NullType(),
    "variant": spark.VariantType(),
}


@pytest.mark.parametrize(("text", "expected"), SPELLINGS.items(), ids=SPELLINGS)
def test_every_spelling_of_an_atomic_type_is_read(text: str, expected: DataType):
    assert parse_type(text) == expected


@pytest.mark.parametrize("text", [" BigInt ", "LONG", "Decimal( 12 , 2 )", "VARCHAR (5)", "dec(3)"])
def test_case_and_spaces_in_a_type_do_not_matter(text: str):
    assert parse_type(text) == parse_type(text.lower().replace(" ", ""))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "bigint unsigned",
        "int(5)",
        "varchar",
        "varchar(0)",
        "char(1,2)",
        "decimal(0,0)",
        "decimal(39,0)",
        "decimal(5,6)",
        "decimal(10,)",
        "decimal(10,-2)",
        "array<int>",
        "struct<a: int>",
        "string collate UTF8_LCASE",
        "time(6)",
    ],
)
def test_a_text_that_is_not_an_atomic_type_is_refused_and_named(text: str):
    with pytest.raises(UnknownType) as refused:
        parse_type(text)
    assert repr(text) in str(refused.value)


@given(atoms)
def test_an_atomic_type_can_be_read_back_from_its_sql_and_from_its_text(atom: DataType):
    assert parse_type(type_sql(atom)) == atom
    assert parse_type(type_text(atom)) == atom


@given(decimals())
def test_a_decimal_is_shown_with_precision_and_scale(decimal: spark.DecimalType):
    assert type_sql(decimal) == f"decimal({decimal.precision},{decimal.scale})"


@pytest.mark.parametrize(
    ("short", "sql", "text"),
    [
        ("long", "bigint", "bigint"),
        (["short"], "array<smallint>", "array<smallint>"),
        (("string", "byte"), "map<string, tinyint>", "map<string, tinyint>"),
        ({"a": "int"}, "struct<`a`: int>", "struct<a: int>"),
        (
            {"a b": "int", "c.d": "int", "e`f": "int"},
            "struct<`a b`: int, `c.d`: int, `e``f`: int>",
            "struct<`a b`: int, `c.d`: int, `e``f`: int>",
        ),
        (
            {"ä>": [("date", {"select": "varchar(3)"})]},
            "struct<`ä>`: array<map<date, struct<`select`: varchar(3)>>>>",
            "struct<`ä>`: array<map<date, struct<select: varchar(3)>>>>",
        ),
        (spark.StringType("UTF8_LCASE"), "string collate UTF8_LCASE", "string collate UTF8_LCASE"),
    ],
)
def test_nested_types_are_rendered_with_names_that_are_safe_in_a_statement(short, sql, text):
    assert type_sql(data_type(short)) == sql
    assert type_text(data_type(short)) == text


def test_a_struct_of_many_fields_is_never_cut():
    wide = data_type({f"f{number}": "int" for number in range(300)})
    assert type_sql(wide).count(": int") == 300


def test_an_unreadable_type_shows_its_text_and_equals_only_the_same_text():
    assert type_text(UnreadableType("struct<a b:int>")) == "struct<a b:int>"
    assert UnreadableType("struct<a b:int>") == UnreadableType("struct<a b:int>")
    assert UnreadableType("struct<a b:int>") != UnreadableType("struct<a b:bigint>")
    assert UnreadableType("int") != spark.IntegerType()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("char(3)", True),
        ("array<struct<x:map<int,char(3)>>>", True),
        ("map<char(3),int>", True),
        ("varchar(3)", False),
        ("struct<x:string,y:array<int>>", False),
    ],
)
def test_a_type_contains_a_class_at_any_depth(text, found):
    assert contains(read_described(text), spark.CharType) is found
