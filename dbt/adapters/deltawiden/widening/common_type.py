"""Find the smallest type that holds the values of a column and of its source."""

from collections.abc import Iterator

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.types import MAX_DECIMAL_PRECISION
from dbt.adapters.deltawiden.widening.rules import find_rule, manual_integer_digits
from dbt.adapters.deltawiden.writing.store_assignment import INTEGER_BITS, store_assignment


def common_type(source: DataType, column: DataType) -> DataType | None:
    """Find the smallest type that holds every value of the column and of the source.

    Returns:
        The candidates are the source's type, the smallest decimal that fits, and double, in this
        order. The result is the first candidate that holds both and that the column can become in
        some version of Delta. If there is none, it is the first candidate that holds both. None if
        no candidate holds both.
    """
    holding = [
        candidate
        for candidate in _candidates(source, column)
        if all(store_assignment(data_type, candidate).fits for data_type in (source, column))
    ]
    reachable = [candidate for candidate in holding if find_rule(column, candidate) is not None]
    return next(iter(reachable + holding), None)


def _candidates(source: DataType, column: DataType) -> Iterator[DataType]:
    # A write never changes an integer column to string, even though a string can hold it.
    if not isinstance(source, spark.StringType) or isinstance(column, spark.NullType):
        yield source
    if is_decimal_number(column) and is_decimal_number(source):
        precision, scale = common_decimal(source, column)
        if precision <= MAX_DECIMAL_PRECISION:
            yield spark.DecimalType(precision, scale)
    if isinstance(column, spark.NumericType) and isinstance(source, spark.NumericType):
        yield spark.DoubleType()


def common_decimal(source: DataType, column: DataType) -> tuple[int, int]:
    """Return the precision and scale of the smallest decimal for a column and a source.

    Args:
        source: a decimal or integer type. An integer needs the digits of its largest value.
        column: a decimal or integer type. For an integer, Delta requires 10 digits before the
            point, or 20 for bigint.

    Returns:
        The precision and scale, in digits. The precision can be greater than a decimal's maximum.
    """
    column_digits, column_scale = _digits(column)
    source_digits, source_scale = _digits(source)
    integer_digits = max(column_digits, source_digits, manual_integer_digits(column))
    scale = max(column_scale, source_scale)
    return integer_digits + scale, scale


def is_decimal_number(data_type: DataType) -> bool:
    """Return whether a type is decimal or integer, so that its number of digits is limited."""
    return isinstance(data_type, spark.DecimalType) or type(data_type) in INTEGER_BITS


def _digits(data_type: DataType) -> tuple[int, int]:
    """Return the number of digits before and after the point."""
    if isinstance(data_type, spark.DecimalType):
        return data_type.precision - data_type.scale, data_type.scale
    return len(str(2 ** INTEGER_BITS[type(data_type)])), 0
