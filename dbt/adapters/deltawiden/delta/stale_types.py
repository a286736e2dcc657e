"""The types that a data file holds, against those of its table's schema."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.side_by_side import Fields, side_by_side

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
    return tuple(
        StaleLeaf(pair.path, pair.in_collection)
        for pair in side_by_side(stored, schema, match=_by_physical_name)
        if pair.left is not None and pair.right is not None and _is_stale(pair.left, pair.right)
    )


def _by_physical_name(stored: StructType, table: StructType, path: Path) -> Fields:
    # Spark reads Parquet columns by name, without regard to case.
    by_name = {field.name.lower(): field for field in stored.fields}
    return ((by_name.get(physical_name(field).lower()), field) for field in table.fields)


def _is_stale(stored: StructField, table: StructField) -> bool:
    return isinstance(stored.dataType, _WIDENED_FROM) and stored.dataType != table.dataType


def physical_name(field: StructField) -> str:
    """Give the name that a column or field of a struct has in data files."""
    metadata: dict[str, Any] = field.metadata or {}
    return str(metadata.get(PHYSICAL_NAME, field.name))
