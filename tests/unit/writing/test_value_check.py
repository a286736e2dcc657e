"""The check of a value in a statement. tests/conformance compares it with Spark."""

import pytest
from pyspark.sql.types import CharType, DataType

from dbt.adapters.deltawiden.sql.types import parse_type
from dbt.adapters.deltawiden.writing.projection import is_as_is, shaped_sql
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment
from dbt.adapters.deltawiden.writing.value_check import ValueCheck, exact_condition, never_exact
from tests.unit.schemas import data_type

CHECK = ValueCheck("orders", "`s`.`t`")
ATOMIC = (
    *("tinyint", "int", "bigint", "float", "double", "decimal(5,2)", "decimal(38,18)", "string"),
    *("binary", "boolean", "date", "timestamp", "timestamp_ntz", "char(5)"),
)


def checked_pairs() -> list[tuple[str, str]]:
    return [
        (source, column)
        for source in ATOMIC
        for column in ATOMIC
        if store_assignment(parse_type(source), parse_type(column)).needs_check
    ]


@pytest.mark.parametrize(("source", "column"), checked_pairs())
def test_every_checked_pair_has_a_condition_or_is_never_exact(source, column):
    pair = parse_type(source), parse_type(column)
    assert (exact_condition("v", *pair) is None) == never_exact(*pair)


@pytest.mark.parametrize(
    ("source", "column", "condition"),
    [
        ("bigint", "int", "try_cast(try_cast(v as int) as bigint) = v"),
        ("int", "decimal(5,2)", "try_cast(v as decimal(5,2)) is not null"),
        ("string", "int", "cast(try_cast(v as int) as string) = cast(v as string)"),
        ("date", "timestamp", "try_cast(try_cast(v as timestamp_ltz) as date) = v"),
        ("string", "char(5)", "char_length(cast(v as string)) = 5"),
        ("boolean", "int", None),
        ("timestamp", "date", None),
        ("timestamp_ntz", "timestamp", None),
    ],
)
def test_the_condition_of_a_lossy_pair_has_this_sql(source, column, condition):
    assert exact_condition("v", parse_type(source), parse_type(column)) == condition


def test_the_error_names_model_column_value_and_both_types():
    sql = CHECK.checked_sql("v", ("s", "my col"), parse_type("bigint"), parse_type("int"))
    assert sql.startswith("case when v is null or (")
    assert "then cast(v as int) else raise_error(" in sql
    assert "The model orders has the value " in sql
    assert "(bigint) for the column s.`my col` of `s`.`t`, whose type int does not" in sql


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ({"a": "bigint"}, {"a": "int"}),
        (["bigint"], ["int"]),
        (("bigint", "string"), ("int", "string")),
        (("string", ["decimal(5,2)"]), ("string", ["decimal(4,1)"])),
    ],
)
def test_leaves_at_every_depth_are_checked(source, column):
    pair: tuple[DataType, DataType] = (data_type(source), data_type(column))
    assert is_as_is(*pair)
    assert shaped_sql("v", *pair) == "v"
    assert not is_as_is(*pair, CHECK)
    assert "raise_error" in shaped_sql("v", *pair, ("c",), CHECK)


def test_a_struct_with_a_checked_leaf_has_its_columns_types_at_every_other_leaf():
    source, column = data_type({"b": "int", "a": "bigint"}), data_type({"a": "int", "b": "bigint"})
    sql = shaped_sql("v", source, column, ("c",), CHECK)
    assert "'b', cast(v.`b` as bigint)" in sql


def test_a_char_column_does_not_store_a_shorter_text_exactly():
    assert store_assignment(parse_type("string"), CharType(5)) is StoreAssignment.LOSSY
    assert store_assignment(CharType(5), CharType(5)) is StoreAssignment.EXACT
    assert store_assignment(CharType(4), CharType(5)) is StoreAssignment.LOSSY
