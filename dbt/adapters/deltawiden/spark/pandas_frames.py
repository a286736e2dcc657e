"""Convert a pandas data frame to a Spark data frame, with the same values or an error."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.types import MAX_DECIMAL_PRECISION
from dbt.adapters.deltawiden.sql.versions import read_version

# Arrow stores Python objects exactly, or refuses them, if all are of the same one of these kinds.
_EXACT_KINDS = frozenset({bool, int, float, str, bytes, date})


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
    table = arrow_table(frame)
    if read_version(spark.version) >= (4, 0):
        return spark.createDataFrame(table)
    from pyspark.sql.pandas.types import from_arrow_schema

    # Spark 3.5 would read a timestamp without time zone in Python's own time zone.
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    rows = [_in_zone(row, zone) for row in table.to_pylist()]
    return spark.createDataFrame(rows, from_arrow_schema(table.schema))


def arrow_table(frame: Any) -> Any:
    """Convert a pandas data frame to an Arrow table with types of Spark.

    Arrow keeps missing values. PySpark's own conversion turns a missing value of a pandas 3 string
    column into the text 'nan'.

    Raises:
        PandasFrameRefused: a value would change, or pyarrow can't be used.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise PandasFrameRefused(
            f"A model that returns a pandas data frame needs pyarrow, which can't be used: {error}"
        ) from error
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    columns = [
        _stored(str(name), frame.iloc[:, place], column)
        for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True))
    ]
    return pyarrow.Table.from_arrays(columns, table.column_names)


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
        if values.dtype == object and _can_change(values.tolist()):
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


def _can_change(values: Sequence[Any]) -> bool:
    """Return whether Arrow can change Python objects to fit the type that it takes from some."""
    kinds = {*map(type, values)} - {type(None)}
    return len(kinds) > 1 or not kinds <= _EXACT_KINDS


def _changed(given: Any, stored: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the values inside a pandas value that Arrow has not stored as they are.

    It cuts a time of day beside a date, nanoseconds, a time zone, and a NumPy number of another
    size. It makes a number of NumPy's True beside a number, and bytes of a text beside bytes.
    """
    if isinstance(given, Mapping):
        for name, value in given.items():
            yield from _changed(value, stored.get(name), (*path, str(name)))
    elif isinstance(stored, list):
        for value, item in zip(given, stored, strict=True):
            yield from _changed(value, item, (*path, "element"))
    elif not _is_stored(given, stored):
        yield path, given


def _is_stored(given: Any, stored: Any) -> bool:
    """Return whether a value is stored as it is, or as null if it is missing.

    Arrow also reads Decimal('NaN') as null, which is no missing value.
    """
    value = given if type(given) is type(stored) else _of_pandas(given)
    if type(value) is type(stored) and value == stored:
        return True
    if isinstance(value, Decimal) and value.is_nan():
        return False
    import pandas

    return bool(pandas.isna(value)) or (
        isinstance(value, bool) == isinstance(stored, bool) and bool(value == stored)
    )


def _of_pandas(value: Any) -> Any:
    """Return a value of NumPy, which can't be compared exactly with Python's, as one of those."""
    import numpy
    import pandas

    if not isinstance(value, numpy.generic):
        return value
    if isinstance(value, numpy.datetime64):
        return pandas.Timestamp(value)
    return pandas.Timedelta(value) if isinstance(value, numpy.timedelta64) else value.item()


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
