"""The type changes that an Iceberg table can make in place."""

from collections.abc import Iterator

from pyspark.sql import types as spark
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.policy import Policy
from dbt.adapters.deltawiden.delta.protocol import Compatibility
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.types import is_in_map_key
from dbt.adapters.deltawiden.widening.refusals import Blocker, Reason
from dbt.adapters.deltawiden.widening.rules import Rule

# The other rules that Iceberg V2 also has start with a type that no Iceberg column has: Iceberg
# stores tinyint and smallint as int, and char and varchar as string.
_FROM_TYPES = (spark.IntegerType, spark.FloatType, spark.DecimalType)


def iceberg_blockers(
    change: TypeChange, rule: Rule | None, policy: Policy, table: StructType
) -> Iterator[Blocker]:
    """Find the blockers of a type change of an Iceberg table.

    An Iceberg table needs no property for it, and every reader of Iceberg can read the table
    afterwards. So it is made unless the model sets ``type_widening: false``.

    Args:
        rule: Delta's rule for it. None if Delta can't make it.

    Source:
        https://iceberg.apache.org/spec/#schema-evolution: int to long, float to double, and a
        decimal with more digits and the same scale. Iceberg never changes the key of a map.
    """
    if rule is None or not _is_in_iceberg(rule) or is_in_map_key(change.path, table):
        yield Blocker(Reason.NOT_IN_ICEBERG_TABLES)
    elif policy.type_widening is False:
        yield Blocker(Reason.TURNED_OFF)


def _is_in_iceberg(rule: Rule) -> bool:
    return rule.from_type in _FROM_TYPES and Compatibility.ICEBERG_V2 in rule.also_in_formats
