"""Frames of pandas that are refused before Spark has them."""

import decimal
import itertools
import uuid
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy
import pandas
import pyarrow
import pytest

from dbt.adapters.deltawiden.spark.pandas_frames import (
    PandasFrameRefused,
    arrow_table,
    check_index,
    spark_frame,
)
from dbt.adapters.deltawiden.spark.python_models import as_spark_frame

DAY, TIME = date(2024, 1, 1), datetime(2024, 1, 1, 5, 6, 7, 8)
# Values that Arrow may store with those of another kind in one column. pyarrow 26 crashes for a
# datetime64 beside other kinds.
VALUES = {
    "bool": [True, False, numpy.bool_(True)],
    "int": [0, 1, 2**53 + 1, -(2**63), numpy.int8(1), numpy.int64(2**53 + 1), numpy.uint64(2**63)],
    "float": [0.1, 1.0, 1e300, -0.0, float("inf"), numpy.float64(0.1)],
    "small_float": [numpy.float16(0.1), numpy.float32(0.1), numpy.float32(2**24)],
    "long_float": [numpy.longdouble("0.1")],
    "decimal": [Decimal("1.5"), Decimal(1), Decimal("0.10"), Decimal("NaN"), Decimal("Infinity")],
    "text": ["a", "1", numpy.str_("a")],
    "bytes": [b"a", b"\xff", bytearray(b"a"), memoryview(b"a"), numpy.bytes_(b"a")],
    "date": [DAY, date(1, 1, 1)],
    "datetime": [TIME, datetime(2024, 1, 1), TIME.replace(tzinfo=timezone.utc)],
    "timestamp": [pandas.Timestamp(TIME), pandas.Timestamp("2024-01-01 00:00:00.000000001")],
    "time": [time(1), time(1, tzinfo=timezone.utc)],
    "interval": [timedelta(1), pandas.Timedelta(1), pandas.Timedelta(days=1)],
    "missing": [None, float("nan"), pandas.NaT, pandas.NA],
    "struct": [{"v": True}, {"v": 1}, {"v": "a"}, {"w": b"a"}, {b"v": 1}, {"v": None}, {1: 2}, {}],
    "list": [[1], [numpy.bool_(True)], [b"a"], [None], [Decimal("NaN")], []],
    "sequence": [(1.5,), ("a",), (DAY, TIME)],
    "array": [*map(numpy.array, ([1], [0.5], [True], ["a"], [b"a"], [[1, 2]]))],
}
POSITIONS = {
    "column": lambda value: value,
    "field": lambda value: {"x": value},
    "element": lambda value: [value],
}
ROWS = pandas.DataFrame({"customer": [1, 1, 2], "place": ["a", "b", "b"], "n": [10, 20, 30]})


@pytest.mark.parametrize(
    ("frame", "found"),
    [
        (ROWS.groupby("customer").sum(numeric_only=True), "customer"),
        (ROWS.set_index(["customer", "place"]), "customer, place"),
        (ROWS.set_index([ROWS.customer + 1, [1, 2, 3]]), "customer"),
        (ROWS.set_index(ROWS.n.rename(0)), "0"),
    ],
)
def test_a_frame_whose_index_has_a_name_is_refused(frame, found):
    with pytest.raises(PandasFrameRefused) as raised:
        spark_frame(frame, None)
    assert f"has the index {found}, which" in str(raised.value)
    assert "return frame.reset_index()" in str(raised.value)


def test_an_index_that_can_not_be_a_column_has_another_remedy():
    frame = ROWS.groupby("customer").agg({"customer": "count"})
    with pytest.raises(ValueError, match="already exists"):
        frame.reset_index()
    with pytest.raises(PandasFrameRefused) as raised:
        spark_frame(frame, None)
    assert "has the index customer, which" in str(raised.value)
    assert "give it a name that no column has, and `return frame.reset_index()`" in str(
        raised.value
    )
    check_index(frame.reset_index(drop=True))
    check_index(frame.rename_axis("other").reset_index())


def test_an_index_that_is_a_column_too_is_not_lost():
    check_index(ROWS.set_index("customer", drop=False))
    check_index(ROWS.set_index(["customer", "place"], drop=False))


def test_a_frame_of_pandas_on_spark_whose_index_has_a_name_is_refused():
    """Its conversion leaves the index out. PySpark's own class needs an older pandas."""

    def to_spark() -> str:
        return "converted"

    index = SimpleNamespace(names=["customer"])
    frame = SimpleNamespace(to_spark=to_spark, index=index, columns=["n"])
    with pytest.raises(PandasFrameRefused, match="has the index customer, which"):
        as_spark_frame(frame, None)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (pandas.period_range("2024-01", periods=1, freq="M"), "period[M] ("),
        (pandas.interval_range(0, 1), "interval[int64, right] ("),
        ([uuid.UUID(int=1)], "object (extension<arrow.uuid> in Arrow)"),
        ([decimal.Decimal(10**39)], "object (decimal256(40, 0) in Arrow)"),
        (
            pandas.Series([["a"]], dtype=pandas.ArrowDtype(pyarrow.list_(pyarrow.string_view()))),
            "list<item: string_view>[pyarrow] (",
        ),
    ],
)
def test_a_type_that_spark_does_not_have_is_refused_with_the_column(values, found):
    with pytest.raises(PandasFrameRefused) as raised:
        spark_frame(pandas.DataFrame({"id": [1], "v": values}), None)
    assert f"has the column v of the type {found}" in str(raised.value)


def same(given, stored):
    """Return whether a stored value is of the kind of a given one, and exactly equal."""
    if isinstance(given, Mapping):
        return given.keys() <= stored.keys() and all(
            same(given.get(name), value) for name, value in stored.items()
        )
    if isinstance(given, (list, tuple, numpy.ndarray)):
        return isinstance(stored, list) and all(map(same, given, stored))
    if isinstance(given, Decimal) and given.is_nan():
        return False
    if pandas.isna(given):
        return stored is None or pandas.isna(stored)
    return kind_and_value(given) == kind_and_value(stored)


def kind_and_value(value):
    if isinstance(value, (bool, numpy.bool_)):
        return "bool", bool(value)
    if isinstance(value, (int, numpy.integer)):
        return "number", Fraction(int(value))
    if isinstance(value, (float, Decimal, numpy.floating)):
        finite = numpy.isfinite(float(value))
        return "number", Fraction(*value.as_integer_ratio()) if finite else float(value)
    if isinstance(value, str):
        return "text", str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes", bytes(value)
    if isinstance(value, datetime):
        return "time", value.tzinfo is None, pandas.Timestamp(value).value
    if isinstance(value, timedelta):
        return "interval", pandas.Timedelta(value).value
    return type(value), value


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("kind", VALUES)
def test_values_of_two_kinds_are_stored_as_they_are_or_refused(kind, position):
    place = POSITIONS[position]
    wrong = []
    for pair in itertools.product(VALUES[kind], itertools.chain(*VALUES.values())):
        given = [place(value) for value in pair]
        frame = pandas.DataFrame({"v": pandas.Series(given, dtype=object)})
        try:
            stored = arrow_table(frame)["v"].to_pylist()
        except (PandasFrameRefused, pyarrow.ArrowException, TypeError, OverflowError):
            continue
        if not all(map(same, given, stored)):
            wrong.append((given, stored))
    assert wrong == []
