"""Which columns a table is partitioned by, marked in its schema."""

from collections.abc import Iterable

from pyspark.sql import types as spark
from pyspark.sql.types import DataType, StructField, StructType

_MARK = "dbt_deltawiden.is_partition_column"


def can_lose_values(data_type: DataType) -> bool:
    """Tell whether a partition column of a type has values that it does not store exactly."""
    texts = (spark.StringType, spark.CharType, spark.VarcharType, spark.BinaryType)
    return isinstance(data_type, (*texts, spark.TimestampType))


def with_partition_columns(schema: StructType, names: Iterable[str]) -> StructType:
    """Mark the partition columns of a table in its schema.

    Args:
        schema: the table's schema.
        names: the partition columns, without regard to case.

    Returns:
        The same schema, in which the metadata of those columns has a mark.
    """
    folded = {name.lower() for name in names}
    if not folded:
        return schema
    return StructType([_marked(f) if f.name.lower() in folded else f for f in schema.fields])


def partition_columns(schema: StructType) -> frozenset[str]:
    """Name the columns, in lower case, that ``with_partition_columns`` has marked."""
    return frozenset(f.name.lower() for f in schema.fields if _MARK in (f.metadata or {}))


def _marked(column: StructField) -> StructField:
    metadata = {**(column.metadata or {}), _MARK: True}
    return StructField(column.name, column.dataType, column.nullable, metadata)
