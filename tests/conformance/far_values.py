"""Filters with values far beyond those in the files. Python says which of them hold."""

import operator
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal
from itertools import chain
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import DataType

from dbt.adapters.deltawiden.sql.types import parse_type
from tests.conformance.filters import ROWS, Pair
from tests.literals import literal
from tests.walk.values import BITS, as_float

EPOCH = datetime(1970, 1, 1)

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "<=>": operator.eq,
    "is distinct from": operator.ne,
}


def values_in_files(pair: Pair) -> list[Any]:
    """Return the value of each row after the change. The last row has null."""
    source, target = parse_type(pair.source), parse_type(pair.target)
    values = [_as_type(_as_type(text, source), target) for text in pair.values]
    return [values[row % len(values)] for row in range(ROWS - 1)] + [None]


def far_filters(pair: Pair, row: int, values: list[Any]) -> Iterator[tuple[str, bool]]:
    """Make filters on a row's column with values that no file has.

    Args:
        pair: the column.
        row: the row's number.
        values: the column's values after the change, one for each row.

    Yields:
        The filter, and whether it is true for the row. A filter that is null is not.
    """
    on = pair.place.operand.format(column=pair.column)
    # A null array has no element, so no filter on an element is true.
    has_element = values[row] is not None or "exists" not in pair.place.filter
    other = values[(row + 1) % (ROWS - 1)]
    for text, holds in far_conditions(values[row], other, parse_type(pair.target), row):
        filtered = pair.place.filter.format(column=pair.column, on=text.format(on=on))
        yield filtered, holds and has_element


def far_conditions(
    value: Any, other: Any, data_type: DataType, turn: int
) -> Iterator[tuple[str, bool]]:
    """Make conditions on a value, with values that are far from it.

    Args:
        other: another value of the column.
        turn: chooses which far values are tried.

    Yields:
        The condition on ``{on}``, and whether it is true. None for NaN, which Spark compares in its
        own way.
    """
    if value != value:
        return
    if other is None or other != other:
        other = value
    known = other if value is None else value
    far = [] if known is None else _far_values(known, turn, data_type)
    if not far:
        return
    texts = [literal(far_value, data_type) for far_value in far]
    if value is None:
        for text in texts:
            yield f"{{on}} <> {text}", False
            yield f"{{on}} is distinct from {text}", True
            yield f"not ({{on}} <=> {text})", True
        return
    own, least, most = (
        literal(v, data_type) for v in (value, min(value, other), max(value, other))
    )
    for compared, text in zip(far, texts, strict=True):
        for name, holds in OPERATORS.items():
            yield f"{{on}} {name} {text}", holds(value, compared)
        yield f"{{on}} between {text} and {most}", compared <= value
        yield f"{{on}} between {least} and {text}", value <= compared
        yield f"{{on}} in ({own}, {text})", True
    # Spark checks the range of the first value of a list only, and makes a set of a long list.
    near = [] if other == value else [literal(other, data_type)]
    for listed in (texts, [*near, *texts], *([*near, text] for text in texts)):
        yield f"{{on}} not in ({', '.join(listed)})", True
        yield f"{{on}} in ({', '.join([*listed, own])})", True


def _far_values(stored: Any, row: int, target: DataType) -> list[Any]:
    """Return values that become the stored one, or another one, in a narrower layout."""
    unscaled = _unscaled(stored, target)
    wrapped = [unscaled + sign * 2**width for width in (31, 32, 63, 64) for sign in (1, -1)]
    edges = [
        sign * (2**width + step)
        for width in (31, 32, 63, 64)
        for sign in (1, -1)
        for step in (-1, 0, 1)
    ]
    largest = [sign * (10**digits - 1) for digits in (9, 18, 20, 36, 38) for sign in (1, -1)]
    some = chain(wrapped, edges[row::5], largest[row % 2 :: 2])
    found = (_scaled(number, target) for number in some)
    return list(dict.fromkeys(v for v in found if v is not None and v != stored))


def _unscaled(value: Any, target: DataType) -> int:
    if isinstance(target, spark.DecimalType):
        return int(Context(prec=80).scaleb(Decimal(value), target.scale))
    if isinstance(value, datetime):
        return (value - EPOCH) // timedelta(days=1)
    if isinstance(value, float):
        return int(value) if abs(value) < 2**70 else 0  # neither NaN nor infinity
    return int(value)


def _scaled(number: int, target: DataType) -> Any:
    """Return the number as a value of the type, or None if it does not fit."""
    if isinstance(target, spark.DecimalType):
        fits = abs(number) < 10**target.precision
        return Context(prec=80).scaleb(Decimal(number), -target.scale) if fits else None
    if isinstance(target, spark.DoubleType):
        return float(number)
    if isinstance(target, spark.TimestampNTZType):
        # The number of microseconds is that of the days in a file, or beyond 32 bits.
        return EPOCH + timedelta(microseconds=number) if abs(number) < 2**53 else None
    return number if -(2 ** BITS[type(target)]) <= number < 2 ** BITS[type(target)] else None


def _as_type(value: Any, data_type: DataType) -> Any:
    """Read a text of ``VALUES``, or convert a value that was read."""
    if isinstance(data_type, spark.DateType):
        return date.fromisoformat(value.removeprefix("date").strip("'"))
    if isinstance(data_type, spark.TimestampNTZType):
        return datetime.combine(value, time())
    if isinstance(data_type, spark.DecimalType):
        return Decimal(value)
    if isinstance(data_type, spark.FloatType):
        return as_float(float(value.strip("'")))
    if isinstance(data_type, spark.DoubleType):
        return float(value)
    return int(value)
