"""The values that a column stores exactly, compared with an oracle that represents them."""

import itertools
import struct
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.types import UnreadableType, type_text
from dbt.adapters.deltawiden.writing.store_assignment import StoreAssignment, store_assignment
from tests.unit.schemas import data_type
from tests.unit.strategies import FLOATS, INTEGERS, many_examples, numbers

INTEGER_CODES = {
    spark.ByteType: "b",
    spark.ShortType: "h",
    spark.IntegerType: "i",
    spark.LongType: "q",
}
FLOAT_CODES = {spark.FloatType: "f", spark.DoubleType: "d"}

# The oracle stores a float by its bits, so that it needs no powers of two.
FLOAT_BITS = {
    spark.FloatType: ["3dcccccd", "7f7fffff", "00000001", "ff7fffff", "4b800000", "00000000"],
    spark.DoubleType: [
        "3fb999999999999a",
        "7fefffffffffffff",
        "0000000000000001",
        "ffefffffffffffff",
        "4340000000000000",
        "0000000000000000",
    ],
}

ALL_DECIMALS = [
    spark.DecimalType(precision, scale)
    for precision in range(1, 39)
    for scale in range(precision + 1)
]


def boundaries(of: DataType) -> Iterator[Fraction]:
    """The finite values of a type that the next smaller type does not have."""
    if isinstance(of, spark.DecimalType):
        most = 10**of.precision - 1
        whole = [0, 1, most, most - 1, *_around_powers_of_two(most)]
        yield from (Fraction(sign * number, 10**of.scale) for number in whole for sign in (1, -1))
    elif type(of) in INTEGER_CODES:
        bits = 8 * struct.calcsize(INTEGER_CODES[type(of)])
        least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        yield from map(Fraction, [least, least + 1, -1, 0, 1, most])
        yield from map(Fraction, _around_powers_of_two(most))
    else:
        code = ">" + FLOAT_CODES[type(of)]
        for bits_text in FLOAT_BITS[type(of)]:
            yield Fraction(struct.unpack(code, bytes.fromhex(bits_text))[0])


def _around_powers_of_two(most: int) -> list[int]:
    near = (2**bits + more for bits in (7, 15, 24, 31, 53, 63) for more in (-1, 0, 1))
    return [number for number in near if number <= most]


def can_represent(column: DataType, value: Fraction) -> bool:
    if isinstance(column, spark.DecimalType):
        shifted = value * 10**column.scale
        return shifted.denominator == 1 and len(str(abs(shifted.numerator))) <= column.precision
    if type(column) in INTEGER_CODES:
        try:
            struct.pack(INTEGER_CODES[type(column)], value.numerator)
        except struct.error:
            return False
        return value.denominator == 1
    code = FLOAT_CODES[type(column)]
    try:
        (stored,) = struct.unpack(code, struct.pack(code, float(value)))
    except OverflowError:
        return False
    return Fraction(stored) == value


def expected(source: DataType, column: DataType) -> StoreAssignment:
    # The boundaries lack NaN and the infinities, which only a float or a double has.
    if type(source) in FLOAT_CODES and type(column) not in FLOAT_CODES:
        return StoreAssignment.LOSSY
    held = all(can_represent(column, value) for value in boundaries(source))
    return StoreAssignment.EXACT if held else StoreAssignment.LOSSY


@many_examples
@given(numbers, numbers)
def test_an_exact_assignment_represents_every_boundary_value(source: DataType, column: DataType):
    assert store_assignment(source, column) is expected(source, column)


@pytest.mark.parametrize("other", [*INTEGERS, *FLOATS], ids=type_text)
def test_an_exact_assignment_represents_the_boundary_values_next_to_each_decimal(other: DataType):
    for decimal in ALL_DECIMALS:
        assert store_assignment(decimal, other) is expected(decimal, other), (decimal, other)
        assert store_assignment(other, decimal) is expected(other, decimal), (other, decimal)


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS], ids=type_text)
@pytest.mark.parametrize("column", [*INTEGERS, *FLOATS], ids=type_text)
def test_an_exact_assignment_represents_the_boundary_values_of_other_numbers(source, column):
    assert store_assignment(source, column) is expected(source, column)


@many_examples
@given(numbers, numbers, numbers)
def test_exact_storage_is_transitive(one: DataType, two: DataType, three: DataType):
    for a, b, c in itertools.permutations((one, two, three)):
        if (
            store_assignment(a, b) is StoreAssignment.EXACT
            and store_assignment(b, c) is StoreAssignment.EXACT
        ):
            assert store_assignment(a, c) is StoreAssignment.EXACT


@given(numbers, numbers)
def test_types_that_hold_each_other_are_equal(one: DataType, other: DataType):
    both = (
        store_assignment(one, other) is StoreAssignment.EXACT
        and store_assignment(other, one) is StoreAssignment.EXACT
    )
    assert both == (one == other)


@given(numbers, numbers)
def test_no_number_is_refused_by_a_numeric_column(source: DataType, column: DataType):
    assert store_assignment(source, column) is not StoreAssignment.IMPOSSIBLE


EXACT, IN_RANGE, LOSSY, IMPOSSIBLE = StoreAssignment

MICROSECONDS_OF_A_DAY = 86_400_000_000
MICROSECONDS = {
    spark.DateType(): (-(2**31) * MICROSECONDS_OF_A_DAY, (2**31 - 1) * MICROSECONDS_OF_A_DAY),
    spark.TimestampType(): (-(2**63), 2**63 - 1),
    spark.TimestampNTZType(): (-(2**63), 2**63 - 1),
}


@pytest.mark.parametrize("source", MICROSECONDS)
@pytest.mark.parametrize("column", MICROSECONDS)
def test_a_column_with_a_smaller_range_is_never_exact(source: DataType, column: DataType):
    (first, last), (least, most) = MICROSECONDS[source], MICROSECONDS[column]
    if store_assignment(source, column) is EXACT:
        assert least <= first
        assert last <= most


@pytest.mark.parametrize(
    ("source", "column", "stored"),
    [
        # common pairs
        ("int", "double", EXACT),
        ("bigint", "double", LOSSY),
        ("smallint", "float", EXACT),
        ("int", "float", LOSSY),
        ("double", "float", LOSSY),
        ("double", "int", LOSSY),
        ("decimal(12,4)", "decimal(12,2)", LOSSY),
        ("decimal(12,2)", "decimal(12,4)", LOSSY),
        ("decimal(10,2)", "decimal(12,4)", EXACT),
        ("int", "decimal(10,0)", EXACT),
        ("int", "decimal(9,0)", LOSSY),
        ("tinyint", "decimal(3,0)", EXACT),
        ("bigint", "decimal(19,0)", EXACT),
        ("decimal(18,0)", "bigint", EXACT),
        ("decimal(19,0)", "bigint", LOSSY),
        ("decimal(15,0)", "double", EXACT),
        ("decimal(2,1)", "double", LOSSY),
        # text
        ("int", "string", EXACT),
        ("double", "string", EXACT),
        ("decimal(38,18)", "string", EXACT),
        ("boolean", "string", EXACT),
        ("date", "string", EXACT),
        ("timestamp_ntz", "string", EXACT),
        ("timestamp", "string", LOSSY),
        ("binary", "string", LOSSY),
        ("char(5)", "string", EXACT),
        ("varchar(5)", "string", EXACT),
        ("variant", "string", LOSSY),
        ("string", "int", LOSSY),
        ("string", "date", LOSSY),
        ("string", "binary", LOSSY),
        (spark.StringType("UTF8_LCASE"), "string", EXACT),
        ("string", spark.StringType("UTF8_LCASE"), EXACT),
        # dates and times
        ("date", "timestamp", IN_RANGE),
        ("date", "timestamp_ntz", IN_RANGE),
        ("timestamp_ntz", "date", LOSSY),
        ("timestamp", "date", LOSSY),
        ("timestamp", "timestamp_ntz", LOSSY),
        ("timestamp_ntz", "timestamp", LOSSY),
        ("date", "int", IMPOSSIBLE),
        ("bigint", "timestamp", LOSSY),
        # the rest
        ("boolean", "int", LOSSY),
        ("int", "boolean", LOSSY),
        ("binary", "int", IMPOSSIBLE),
        ("variant", "variant", EXACT),
        ("int", "variant", EXACT),
        ("variant", "int", LOSSY),
        (["int"], "string", IMPOSSIBLE),
        ({"a": "int"}, "string", IMPOSSIBLE),
        ({"a": "int"}, ["int"], IMPOSSIBLE),
        ("int", ["int"], IMPOSSIBLE),
        (spark.DayTimeIntervalType(), "bigint", LOSSY),
        (UnreadableType("struct<a b:int>"), UnreadableType("struct<a b:int>"), EXACT),
        (UnreadableType("struct<a b:int>"), UnreadableType("struct<a b:bigint>"), IMPOSSIBLE),
        (UnreadableType("int"), "int", IMPOSSIBLE),
    ],
)
def test_a_pair_of_types_has_the_documented_assignment(source, column, stored: StoreAssignment):
    assert store_assignment(data_type(source), data_type(column)) is stored


@pytest.mark.parametrize(
    "column", ["tinyint", "decimal(1,1)", "string", "date", "variant", ["int"], {"a": "int"}]
)
def test_void_fits_every_column(column):
    assert store_assignment(spark.NullType(), data_type(column)) is StoreAssignment.EXACT
