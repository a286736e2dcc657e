"""Compare the types in a data file with those of its table's schema."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import types as spark
from pyspark.sql.types import StructField, StructType

from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.sql.side_by_side import Fields, side_by_side

PHYSICAL_NAME = "delta.columnMapping.physicalName"

# Delta's protocol, "Type Widening": only these types can be widened, and so be stale in a file.
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
    """A leaf that has a type from before a widening in a data file.

    Attributes:
        path: the leaf, in the table's names.
        in_collection: whether it is inside an array or a map. Delta's own rewrite for
            ``DROP FEATURE`` does not check elements, keys and values.
    """

    path: Path
    in_collection: bool


def stale_leaves(stored: StructType, schema: StructType) -> tuple[StaleLeaf, ...]:
    """Find the leaves that have an older type in a data file than in the table.

    Args:
        stored: the schema in the file's footer, with physical names.
        schema: the table's schema from the log, with the metadata that Delta keeps in it.

    Returns:
        The leaves. A column that the file lacks is read as null. A column that was dropped from the
        table is never read. Neither makes the file stale.

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
    """Return the name of a column or struct field in data files."""
    metadata: dict[str, Any] = field.metadata or {}
    return str(metadata.get(PHYSICAL_NAME, field.name))
