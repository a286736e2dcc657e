"""Convert a pandas data frame to a Spark data frame, with the same values or an error."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.types import MAX_DECIMAL_PRECISION
from dbt.adapters.deltawiden.sql.versions import read_version


class PandasFrameRefused(DbtRuntimeError):
    """A pandas data frame can't be converted, or not with the same values."""


def check_index(frame: Any) -> None:
    """Refuse an index with a name in a frame of pandas, or of pandas on Spark.

    The conversion leaves each index out. One without a name is most often the numbers of the rows.
    """
    named = [(level, n) for level, n in enumerate(frame.index.names) if n is not None]
    names = [str(name) for level, name in named if not _is_column(frame, level, name)]
    if not names:
        return
    leaves_out = "`return frame.reset_index(drop=True)` leaves it out."
    do = f"`return frame.reset_index()` makes columns of it, and {leaves_out}"
    # pandas can't insert a column whose name is there.
    if any(name in frame.columns for _, name in named):
        keeps = "give it a name that no column has, and `return frame.reset_index()`"
        do = f"{leaves_out} To keep it, {keeps}."
    raise PandasFrameRefused(
        f"The pandas data frame has the index {', '.join(names)}, which the table would not have. "
        f"Nothing was written. {do}"
    )


def _is_column(frame: Any, level: int, name: Any) -> bool:
    """Return whether a column has the values of an index, as after ``set_index(drop=False)``.

    Of pandas on Spark, the expressions are compared: the values would have to be computed.
    """
    if [*frame.columns].count(name) != 1:
        return False
    index, column = frame.index.get_level_values(level), frame[name]
    if hasattr(frame, "to_spark"):
        from pyspark.pandas.utils import spark_column_equals

        return bool(spark_column_equals(index.spark.column, column.spark.column))
    import pandas

    return bool(index.equals(pandas.Index(column)))


def spark_frame(frame: Any, spark: SparkSession) -> DataFrame:
    """Convert a pandas data frame. What pandas regards as missing becomes null.

    Raises:
        PandasFrameRefused: a value would change, an index would be lost, or pyarrow can't be used.
    """
    check_index(frame)
    # Convert through Arrow, which keeps missing values. PySpark's own conversion turns a missing
    # value of a pandas 3 string column into the text 'nan'.
    try:
        import pyarrow
        from pyspark.sql.pandas.types import from_arrow_schema
    except ImportError as error:
        raise PandasFrameRefused(
            f"A model that returns a pandas data frame needs pyarrow, which can't be used: {error}"
        ) from error
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    columns = [
        _stored(str(name), frame.iloc[:, place], column)
        for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True))
    ]
    if read_version(spark.version) >= (4, 0):
        return spark.createDataFrame(pyarrow.Table.from_arrays(columns, table.column_names))
    # Spark 3.5 would read a timestamp without time zone in Python's own time zone.
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    table = pyarrow.Table.from_arrays(columns, table.column_names)
    rows = [_in_zone(row, zone) for row in table.to_pylist()]
    return spark.createDataFrame(rows, from_arrow_schema(table.schema))


def _stored(name: str, series: Any, column: Any) -> Any:
    """Return an Arrow column with types of Spark, and with times in microseconds."""
    from pyarrow import ArrowInvalid

    stored_type = _stored_type(column.type)
    if not _is_known(stored_type):
        raise PandasFrameRefused(
            f"The pandas data frame has the column {path_text((name,))} of the type {series.dtype} "
            f"({column.type} in Arrow), which Spark does not have. Nothing was written. Convert it "
            "in the model, for example to text."
        )
    given = None
    try:
        stored = column.cast(stored_type)
        # Those of a category can be Python objects, too.
        values = getattr(series.dtype, "categories", series)
        if values.dtype == object and _can_change(stored_type):
            given = series.tolist()
    except ArrowInvalid:
        stored, given = column.cast(stored_type, safe=False), column.to_pylist()
    for row in zip(given, stored.to_pylist(), strict=True) if given is not None else ():
        for path, value in _changed(*row, (name,)):
            raise PandasFrameRefused(
                f"The pandas data frame has the value {value!r} in the column {path_text(path)}, "
                f"whose type in Spark ({column.type} in Arrow, with times in microseconds) does "
                "not store it exactly. Nothing was written. Convert or round it in the model. A "
                "missing value is None."
            )
    return stored


def _changed(given: Any, stored: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the values inside a pandas value that Arrow has not stored as they are.

    Arrow takes the type of Python objects from some of them, and then cuts others: a time of day
    beside a date, nanoseconds, a time zone. It reads Decimal('NaN') as null.
    """
    import pandas

    if isinstance(given, Mapping):
        for name, value in given.items():
            yield from _changed(value, stored[name], (*path, str(name)))
    elif isinstance(stored, list):
        for value, item in zip(given, stored, strict=True):
            yield from _changed(value, item, (*path, "element"))
    elif (isinstance(given, Decimal) and given.is_nan()) or (
        not pandas.isna(given) and _of_pandas(given) != stored
    ):
        yield path, given


def _of_pandas(value: Any) -> Any:
    """Return a value of NumPy, which can't be compared with Python's, as one of pandas."""
    import numpy
    import pandas

    if isinstance(value, numpy.datetime64):
        return pandas.Timestamp(value)
    return pandas.Timedelta(value) if isinstance(value, numpy.timedelta64) else value


def _can_change(arrow_type: Any) -> bool:
    """Return whether Arrow can cut Python objects to fit a type. It refuses numbers instead."""
    from pyarrow import types

    can_change = (types.is_temporal, types.is_decimal, types.is_null)
    return any(check(inner) for inner in _every_type(arrow_type) for check in can_change)


def _every_type(arrow_type: Any) -> Iterator[Any]:
    yield arrow_type
    for place in range(arrow_type.num_fields):
        yield from _every_type(arrow_type.field(place).type)


def _stored_type(arrow_type: Any) -> Any:
    """Return the type with which Spark stores all values of a type, at every depth.

    Times have microseconds. Spark has no unsigned integers and no half-precision floats: they get
    the next larger type. PySpark can miss the times in a dictionary (a category of pandas) and in
    another kind of list, and leave them in UTC, so these get the plain type.
    """
    import pyarrow
    from pyarrow import types

    wider = {
        pyarrow.uint8(): pyarrow.int16(),
        pyarrow.uint16(): pyarrow.int32(),
        pyarrow.uint32(): pyarrow.int64(),
        pyarrow.uint64(): pyarrow.decimal128(20),
        pyarrow.float16(): pyarrow.float32(),
    }
    if arrow_type in wider:
        return wider[arrow_type]
    if types.is_timestamp(arrow_type):
        return pyarrow.timestamp("us", arrow_type.tz)
    if types.is_duration(arrow_type):
        return pyarrow.duration("us")
    if types.is_dictionary(arrow_type):
        return _stored_type(arrow_type.value_type)
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if any(check(arrow_type) for check in lists):
        return pyarrow.list_(_stored_type(arrow_type.value_type))
    if types.is_struct(arrow_type):
        fields = [arrow_type.field(place) for place in range(arrow_type.num_fields)]
        return pyarrow.struct([field.with_type(_stored_type(field.type)) for field in fields])
    if types.is_map(arrow_type):
        key, item = arrow_type.key_type, arrow_type.item_type
        return pyarrow.map_(_stored_type(key), _stored_type(item))
    return arrow_type


def _is_known(arrow_type: Any) -> bool:
    """Return whether Spark has a type for an Arrow type."""
    from pyarrow import types
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        from_arrow_type(arrow_type)
    except PySparkTypeError:
        return False
    decimals = filter(types.is_decimal, _every_type(arrow_type))
    return all(each.precision <= MAX_DECIMAL_PRECISION for each in decimals)


def _in_zone(value: Any, zone: str) -> Any:
    from pyarrow import compute, scalar

    if isinstance(value, dict):
        return {name: _in_zone(inner, zone) for name, inner in value.items()}
    if isinstance(value, list):
        return [_in_zone(inner, zone) for inner in value]
    if isinstance(value, datetime) and value.tzinfo is None:
        return compute.assume_timezone(scalar(value), zone).as_py()
    return value
