"""The types in a data file that are older than its table's, and the filters that misread them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.side_by_side import Fields, side_by_side


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


PHYSICAL_NAME = "delta.columnMapping.physicalName"

# Delta's protocol, "Type Widening": only these types can be widened, and so be stale in a file.
WIDENED_FROM = (
    spark.ByteType,
    spark.ShortType,
    spark.IntegerType,
    spark.LongType,
    spark.FloatType,
    spark.DecimalType,
    spark.DateType,
)


_DATE = re.compile(r"[+-]?\d+-\d\d-\d\d")


@dataclass(frozen=True)
class StaleLeaf:
    """A leaf that has a type from before a widening in a data file.

    Attributes:
        left_by_delta: whether Delta's own rewrite for ``DROP FEATURE`` does not check it: it is
            inside an array or a map, or a partition column.
        is_misread: whether filters can miss rows of the file, see ``misread_by_filters``.
    """

    path: Path
    left_by_delta: bool
    is_misread: bool = False


def stale_leaves(stored: StructType, schema: StructType) -> tuple[StaleLeaf, ...]:
    """Find the leaves that have an older type in a data file than in the table.

    A column that the file lacks is read as null, and one that was dropped from the table is never
    read. Neither makes the file stale.

    Args:
        schema: the table's schema from the log, with the metadata that Delta keeps in it.

    Source:
        Delta's protocol, "Column Mapping" (physical names) and "Type Widening"; the table feature
        can be dropped when no data file needs a conversion to be read.
    """
    found = []
    for pair in side_by_side(stored, schema, match=_by_physical_name):
        if pair.left is None or pair.right is None:
            continue
        old, new = pair.left.dataType, pair.right.dataType
        if isinstance(old, WIDENED_FROM) and old != new:
            # Spark makes no filters on what is inside an array or a map.
            is_misread = not pair.in_collection and misread_by_filters(old, new)
            found.append(StaleLeaf(pair.path, pair.in_collection, is_misread))
    return tuple(found)


def stored_leaves(stored: StructType, schema: StructType) -> frozenset[Path]:
    """Find the leaves of a table that a data file has. See ``stale_leaves``."""
    pairs = side_by_side(stored, schema, match=_by_physical_name)
    return frozenset(pair.path for pair in pairs if pair.left is not None)


def stale_partition_columns(values: Mapping[str, str], schema: StructType) -> tuple[StaleLeaf, ...]:
    """Find the partition columns whose value in a data file has the text of an older type.

    An integer that became double is not one of them: every reader reads its text. The values that
    are not null are by physical name.

    Source:
        Delta's protocol, "Partition Value Serialization". delta-kernel-rs, and so delta-rs and
        DuckDB, reads a decimal only with the digits of its scale, and a timestamp only with a time
        (``PrimitiveType::parse_scalar``). Delta's own rewrite finds such a file only if the file
        itself also has the column, which is so since Delta 4.4
    """
    return tuple(
        StaleLeaf((field.name,), left_by_delta=True)
        for field in schema.fields
        if _has_older_text(values.get(physical_name(field)), field.dataType)
    )


def _has_older_text(text: str | None, data_type: DataType) -> bool:
    if text is None:
        return False
    if isinstance(data_type, spark.DecimalType):
        return _scale(text) not in (None, data_type.scale)
    return isinstance(data_type, spark.TimestampNTZType) and _DATE.fullmatch(text) is not None


def _scale(text: str) -> int | None:
    """Return the scale of a decimal, which can have an exponent. None if it is no number."""
    try:
        exponent = Decimal(text).as_tuple().exponent
    except InvalidOperation:
        return None
    return -exponent if isinstance(exponent, int) else None


def _by_physical_name(stored: StructType, table: StructType, path: Path) -> Fields:
    # Spark reads Parquet columns by name, without regard to case.
    by_name = {field.name.lower(): field for field in stored.fields}
    return ((by_name.get(physical_name(field).lower()), field) for field in table.fields)


def physical_name(field: StructField) -> str:
    """Return the name of a column or struct field in data files."""
    metadata: dict[str, Any] = field.metadata or {}
    return str(metadata.get(PHYSICAL_NAME, field.name))
