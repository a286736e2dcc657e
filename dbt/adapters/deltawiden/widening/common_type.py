"""The smallest type that a column can become to hold a source's values beside its own."""

from collections.abc import Iterator

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.widening.rules import find_rule, manual_integer_digits
from dbt.adapters.deltawiden.writing.store_assignment import (
    INTEGER_BITS,
    StoreAssignment,
    store_assignment,
)

MAX_DECIMAL_PRECISION = 38
"""The digits a Spark decimal has at most,
https://spark.apache.org/docs/latest/sql-ref-datatypes.html."""


def common_type(column: DataType, source: DataType) -> DataType | None:
    """Find the smallest type that holds every value of the column and of the source.

    Args:
        column: the type of the existing column.
        source: the type of the values to be written to it.

    Returns:
        Of the source's type, the smallest decimal and double, the first that holds both and that
        some Delta version lets the column become; where there is none, the first that holds both;
        None where no type does.
    """
    holding = [each for each in _candidates(column, source) if _holds_both(each, column, source)]
    reachable = [each for each in holding if find_rule(column, each) is not None]
    return next(iter(reachable + holding), None)


def _holds_both(candidate: DataType, column: DataType, source: DataType) -> bool:
    return all(
        store_assignment(each, candidate) is StoreAssignment.EXACT for each in (column, source)
    )


def _candidates(column: DataType, source: DataType) -> Iterator[DataType]:
    # An integer never becomes a string by a write, though a string would hold it.
    if not isinstance(source, spark.StringType) or isinstance(column, spark.NullType):
        yield source
    if is_decimal_number(column) and is_decimal_number(source):
        precision, scale = common_decimal(column, source)
        if precision <= MAX_DECIMAL_PRECISION:
            yield spark.DecimalType(precision, scale)
    if isinstance(column, spark.NumericType) and isinstance(source, spark.NumericType):
        yield spark.DoubleType()


def common_decimal(column: DataType, source: DataType) -> tuple[int, int]:
    """Give precision and scale of the smallest decimal for a column and a source.

    Args:
        column: a decimal or integer type. Of an integer Delta asks 10 digits, or 20 for bigint.
        source: a decimal or integer type. Of an integer the digits of its largest value count.

    Returns:
        Precision and scale, in digits. The precision can be past what a decimal can have.
    """
    column_digits, column_scale = _digits(column)
    source_digits, source_scale = _digits(source)
    integer_digits = max(column_digits, source_digits, manual_integer_digits(column))
    scale = max(column_scale, source_scale)
    return integer_digits + scale, scale


def is_decimal_number(data_type: DataType) -> bool:
    """Tell whether a type's values are decimal numbers of a bounded number of digits."""
    return isinstance(data_type, spark.DecimalType) or type(data_type) in INTEGER_BITS


def _digits(data_type: DataType) -> tuple[int, int]:
    """Give the digits before and after the point."""
    if isinstance(data_type, spark.DecimalType):
        return data_type.precision - data_type.scale, data_type.scale
    return len(str(2 ** INTEGER_BITS[type(data_type)])), 0
