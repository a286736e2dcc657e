"""Mark the partition columns of a table in its schema."""

from collections.abc import Iterable

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructField, StructType

_MARK = "dbt_deltawiden.is_partition_column"


def can_lose_values(data_type: DataType) -> bool:
    """Return whether a partition column of this type does not store every value exactly."""
    texts = (spark.StringType, spark.CharType, spark.VarcharType, spark.BinaryType)
    return isinstance(data_type, (*texts, spark.TimestampType))


def with_partition_columns(schema: StructType, names: Iterable[str]) -> StructType:
    """Mark the partition columns of a table, in any case, in the metadata of its schema."""
    folded = {name.lower() for name in names}
    if not folded:
        return schema
    return StructType([_marked(f) if f.name.lower() in folded else f for f in schema.fields])


def partition_columns(schema: StructType) -> frozenset[str]:
    """Return the names, in lower case, of the columns that ``with_partition_columns`` marked."""
    return frozenset(f.name.lower() for f in schema.fields if _MARK in (f.metadata or {}))


def _marked(column: StructField) -> StructField:
    metadata = {**(column.metadata or {}), _MARK: True}
    return StructField(column.name, column.dataType, column.nullable, metadata)
