"""Which widenings leave files that Spark's Parquet filters do not read right."""

from pyspark.sql import types as spark
from pyspark.sql.types import DataType


def misread_by_filters(from_type: DataType, to_type: DataType) -> bool:
    """Return whether a filter on a widened column can miss rows of files with the older type.

    Spark converts the value of a filter to the type that the file has. A value that does not fit
    wraps around there, and the filter skips row groups that have matching rows, or the read fails
    with ``FAILED_READ_FILE``. This is so for decimals that keep their scale and get another layout,
    and for integers that become bigint. Spark makes no such filter if a decimal's scale grows, on a
    float or a date, and inside arrays and maps.

    Source:
        Spark's ``ParquetFilters``: ``isDecimalMatched`` compares only scales, and
        ``valueCanMakeFilterOn`` checks only the first value of an IN; ``NOT IN`` then skips files
        because of the others
    """
    if isinstance(to_type, spark.DecimalType):
        return (
            isinstance(from_type, spark.DecimalType)
            and from_type.scale == to_type.scale
            and _decimal_bytes(from_type.precision) < _decimal_bytes(to_type.precision)
        )
    integers = (spark.ByteType, spark.ShortType, spark.IntegerType)  # int32 in Parquet
    return isinstance(from_type, integers) and isinstance(to_type, spark.LongType)


def _decimal_bytes(precision: int) -> int:
    """Return how many bytes Spark stores a decimal in.

    Source:
        Parquet's ``LogicalTypes.md``, "DECIMAL"; Spark stores as int32 and int64 what fits there
    """
    if precision <= 9:
        return 4
    if precision <= 18:
        return 8
    return int.bit_length(10**precision) // 8 + 1
