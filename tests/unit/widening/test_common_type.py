"""The smallest type for both a column and a source."""

import pytest
from hypothesis import given
from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.widening.common_type import (
    common_decimal,
    common_type,
    is_decimal_number,
)
from dbt.adapters.deltawiden.writing.store_assignment import store_assignment
from tests.unit.schemas import data_type
from tests.unit.strategies import atoms, decimals, many_examples


def holds(column: DataType, source: DataType) -> bool:
    return store_assignment(source, column).fits


@many_examples
@given(atoms, atoms)
def test_the_type_for_both_holds_both(column: DataType, source: DataType):
    target = common_type(source, column)
    if target is not None:
        assert holds(target, column)
        assert holds(target, source)


@many_examples
@given(decimals(), decimals())
def test_two_decimals_get_the_smallest_decimal_that_holds_both(column, source):
    target = common_type(source, column)
    if target is None:
        assert not any(
            holds(candidate, column) and holds(candidate, source)
            for candidate in (spark.DecimalType(38, scale) for scale in range(39))
        )
        return
    assert isinstance(target, spark.DecimalType)
    assert not any(
        holds(candidate, column) and holds(candidate, source)
        for precision in range(1, target.precision)
        for candidate in [spark.DecimalType(precision, target.scale)]
        if target.scale <= precision
    )
    assert target.scale == max(column.scale, source.scale)


CASES = [
    # table, source, smallest type for both
    ("int", "bigint", "bigint"),
    ("tinyint", "smallint", "smallint"),
    ("float", "double", "double"),
    ("float", "int", "double"),
    ("float", "bigint", None),
    ("int", "float", "double"),
    ("int", "double", "double"),
    ("bigint", "double", None),
    ("int", "decimal(12,2)", "decimal(12,2)"),
    ("int", "decimal(5,2)", "decimal(12,2)"),
    ("int", "decimal(10,2)", "decimal(12,2)"),
    ("bigint", "decimal(10,2)", "decimal(22,2)"),
    ("decimal(10,2)", "decimal(10,4)", "decimal(12,4)"),
    ("decimal(10,2)", "decimal(12,4)", "decimal(12,4)"),
    ("decimal(5,2)", "int", "decimal(12,2)"),
    ("decimal(5,2)", "bigint", "decimal(21,2)"),
    ("decimal(38,38)", "tinyint", None),
    ("decimal(38,18)", "decimal(38,10)", None),
    ("decimal(10,2)", "double", None),
    ("date", "timestamp_ntz", "timestamp_ntz"),
    ("timestamp", "timestamp_ntz", None),
    ("int", "string", None),
    ("boolean", "string", None),
    ("string", "binary", None),
    ("int", "boolean", None),
]


@pytest.mark.parametrize(("column", "source", "target"), CASES)
def test_the_smallest_type_for_both(column: str, source: str, target: str | None):
    found = common_type(data_type(source), data_type(column))
    assert found == (None if target is None else data_type(target))


@given(decimals(), decimals())
def test_the_decimal_for_both_may_need_more_digits_than_a_decimal_has(column, source):
    precision, scale = common_decimal(source, column)
    assert scale == max(column.scale, source.scale)
    whole = max(column.precision - column.scale, source.precision - source.scale)
    assert precision == whole + scale


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tinyint", True),
        ("bigint", True),
        ("decimal(5,2)", True),
        ("double", False),
        ("float", False),
        ("string", False),
        ("date", False),
        ("boolean", False),
    ],
)
def test_only_integers_and_decimals_are_decimal_numbers(text: str, expected: bool):
    assert is_decimal_number(data_type(text)) is expected
