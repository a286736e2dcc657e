"""The types that a data file holds, against those of its table's schema."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dbt.adapters.deltawiden.widening.names import Path

PHYSICAL_NAME = "delta.columnMapping.physicalName"

# Delta's protocol, "Type Widening": only these are changed from, and so can be left in a file.
_WIDENED_FROM = (
    spark.ByteType,
    spark.ShortType,
    spark.IntegerType,
    spark.LongType,
    spark.FloatType,
    spark.DecimalType,
    spark.DateType,
)


@dataclass(frozen=True)
class StaleLeaf:
    """A leaf that a data file holds with a type from before a widening.

    Attributes:
        path: the leaf, with the table's names.
        in_collection: whether it is inside an array or a map, where Delta's own rewrite for
            ``DROP FEATURE`` does not look at elements, keys and values.
    """

    path: Path
    in_collection: bool


def stale_leaves(stored: StructType, schema: StructType) -> tuple[StaleLeaf, ...]:
    """Find what a data file still holds with a type that is not the table's.

    Args:
        stored: the schema in the file's footer; its names are physical ones.
        schema: the table's schema with the metadata that Delta keeps in it, as the log has it.

    Returns:
        The leaves. What the file lacks is null in it, and what it has besides (columns that were
        dropped) is never read: neither makes it stale.

    Source:
        Delta's protocol, "Column Mapping" (physical names) and "Type Widening"; the table feature
        can be dropped when no data file needs a conversion to be read.
    """
    return tuple(_in_struct(stored, schema, (), False))


def _in_struct(
    stored: StructType, table: StructType, path: Path, in_collection: bool
) -> Iterator[StaleLeaf]:
    # Spark reads Parquet columns by name, without regard to case.
    by_name = {field.name.lower(): field.dataType for field in stored.fields}
    for field in table.fields:
        found = by_name.get(physical_name(field).lower())
        if found is not None:
            yield from _in_type(found, field.dataType, (*path, field.name), in_collection)


def physical_name(field: StructField) -> str:
    """Give the name that a column or field of a struct has in data files."""
    metadata: dict[str, Any] = field.metadata or {}
    return str(metadata.get(PHYSICAL_NAME, field.name))


def _in_type(
    stored: DataType, table: DataType, path: Path, in_collection: bool
) -> Iterator[StaleLeaf]:
    if isinstance(stored, StructType) and isinstance(table, StructType):
        yield from _in_struct(stored, table, path, in_collection)
    elif isinstance(stored, ArrayType) and isinstance(table, ArrayType):
        yield from _in_type(stored.elementType, table.elementType, (*path, "element"), True)
    elif isinstance(stored, MapType) and isinstance(table, MapType):
        yield from _in_type(stored.keyType, table.keyType, (*path, "key"), True)
        yield from _in_type(stored.valueType, table.valueType, (*path, "value"), True)
    elif isinstance(stored, _WIDENED_FROM) and stored != table:
        yield StaleLeaf(path, in_collection)
