"""The versions of Spark and Delta, and their capabilities."""

from dataclasses import dataclass
from enum import Enum

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.transaction_log import FetchRows
from dbt.adapters.deltawiden.sql.versions import Version, read_version

DELTA_3_2: Version = (3, 2)
DELTA_4_0: Version = (4, 0)
DELTA_4_3: Version = (4, 3)
DELTA_4_4: Version = (4, 4)


@dataclass(frozen=True)
class Engine:
    """The versions of Spark and Delta that run a statement, as tuples of numbers: (4, 1, 4)."""

    spark: Version
    delta: Version

    def can(self, capability: "Capability") -> bool:
        """Return whether the engine has a capability."""
        minimum: Engine = capability.value
        return self.spark >= minimum.spark and self.delta >= minimum.delta


class Capability(Enum):
    """A capability that only some engines have, with the first versions that have it."""

    # Spark 3.5 can't parse the statement: PARSE_SYNTAX_ERROR.
    ALTER_SEVERAL_COLUMNS = Engine(spark=(4, 0), delta=DELTA_4_0)
    # Older versions raise DELTA_CANNOT_UPDATE_OTHER_FIELD. Some can't even read such a table.
    TYPE_A_VOID_COLUMN = Engine(spark=(3, 5), delta=DELTA_4_4)
    # Older versions compare the texts of partition values in a dynamic overwrite, and so keep a
    # partition if the same value has another text: ``OptimisticTransaction.filterFiles``.
    COMPARE_PARTITION_VALUES = Engine(spark=(3, 5), delta=DELTA_4_3)
    # In older versions, the table property adds the preview of the table feature.
    STABLE_TYPE_WIDENING = Engine(spark=(3, 5), delta=DELTA_4_0)
    # Older versions can't drop the table feature before the history has expired.
    PROTECT_HISTORY = Engine(spark=(3, 5), delta=DELTA_4_0)


def read_engine(fetch_rows: FetchRows, delta_version: str | None = None) -> Engine:
    """Read the versions of Spark and Delta that a server runs. A profile can set that of Delta.

    Source:
        https://spark.apache.org/docs/latest/api/sql/ (version, java_method); Delta keeps its
        version in ``io.delta.VERSION``
    """
    spark = read_spark_version(fetch_rows)
    if delta_version is not None:
        return Engine(spark=spark, delta=read_version(delta_version))
    try:
        answer = fetch_rows("select java_method('io.delta.package', 'VERSION')")
    except DbtRuntimeError as error:
        raise DbtRuntimeError(
            "This server does not say which version of Delta it runs, which decides what types can "
            "be widened: set delta_version in the profile, for example delta_version: '4.0.1'.\n"
            f"{error.msg}"
        ) from error
    return Engine(spark=spark, delta=read_version(str(answer[0][0])))


def read_spark_version(fetch_rows: FetchRows) -> Version:
    """Read the version of Spark that a server runs."""
    return read_version(str(fetch_rows("select version()")[0][0]))
