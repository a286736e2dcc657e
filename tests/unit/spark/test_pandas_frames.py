"""Frames of pandas that are refused before Spark has them."""

import decimal
import uuid
from types import SimpleNamespace

import pandas
import pyarrow
import pytest

from dbt.adapters.deltawiden.spark.pandas_frames import PandasFrameRefused, check_index, spark_frame
from dbt.adapters.deltawiden.spark.python_models import as_spark_frame

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
