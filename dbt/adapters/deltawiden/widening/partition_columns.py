"""Find what blocks the change of a partition column's type.

Delta stores partition values as text, and an ``ALTER TABLE`` does not change the text.
"""

from collections.abc import Iterator

from pyspark.sql import types as spark

from dbt.adapters.deltawiden.delta.engine import Capability
from dbt.adapters.deltawiden.delta.float_statistics import is_float_to_double
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import Path
from dbt.adapters.deltawiden.widening.refusals import Blocker, Reason


def is_partition_column(path: Path, snapshot: TableSnapshot) -> bool:
    """Return whether a table is partitioned by a column, whose name is in any case."""
    return path[0].lower() in (column.lower() for column in snapshot.partition_columns)


def partition_blockers(change: TypeChange, snapshot: TableSnapshot) -> Iterator[Blocker]:
    """Find the blockers of a change of a partition column's type.

    Source:
        Delta's protocol, "Partition Value Serialization"; measured on Delta 4.0 and 4.4
    """
    if is_float_to_double(change):
        yield Blocker(Reason.PARTITIONED_BY_FLOAT)
    elif changes_text(change) and not snapshot.engine.can(Capability.COMPARE_PARTITION_VALUES):
        yield Blocker(Reason.PARTITION_TEXT, "4.3")


def changes_text(change: TypeChange) -> bool:
    """Return whether a partition value has another text after a change of its type."""
    before, after = change.from_type, change.to_type
    if isinstance(after, spark.DecimalType):
        # An integer is a decimal without scale.
        scale = before.scale if isinstance(before, spark.DecimalType) else 0
        return after.scale != scale
    return isinstance(after, spark.DoubleType | spark.TimestampNTZType)
