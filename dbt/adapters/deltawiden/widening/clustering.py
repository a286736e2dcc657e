"""Plan a change of the columns that a table is clustered by."""

from collections.abc import Iterable

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import Path, folded
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Reason, Refusal
from dbt.adapters.deltawiden.widening.request import find_leaf
from dbt.adapters.deltawiden.widening.schema_diff import schema_at_write
from dbt.adapters.deltawiden.widening.steps import ClusterBy, Stage


def plan_clustering(plan: Plan, wanted: tuple[Path, ...], snapshot: TableSnapshot) -> Plan:
    """Add a change of the clustering columns to a plan.

    It is refused if a name is not that of a column or nested field of the table as it is at the
    write, or if the table has partitions.

    Source:
        https://docs.delta.io/latest/delta-clustering.html;
        DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED
    """
    schema = schema_at_write(snapshot.schema, plan.changes, plan.new)
    paths, problems = find_columns(wanted, schema)
    refusals = [Refusal(Reason.NOT_A_CLUSTERING_COLUMN, path, detail=why) for path, why in problems]
    # A clustered table has no partitions, so they need not be read.
    if wanted and not snapshot.clustering_columns and snapshot.partition_columns:
        columns = ", ".join(snapshot.partition_columns)
        refusals += [
            Refusal(Reason.CLUSTERED_AND_PARTITIONED, path, detail=columns) for path in paths
        ]
    stage = Stage.NEW_CLUSTERING if _has_new(paths, plan) else Stage.CLUSTERING
    return plan.adding(ClusterBy(plan.table, paths, stage)).refusing(refusals)


def _has_new(columns: Iterable[Path], plan: Plan) -> bool:
    return any(
        folded(column[: len(new.path)]) == folded(new.path)
        for column in columns
        for new in plan.new
    )


def find_columns(
    wanted: Iterable[Path], schema: StructType
) -> tuple[tuple[Path, ...], list[tuple[Path, str]]]:
    """Find the columns that a configuration names, in any case, in the schema's spelling.

    Each other name has the reason why it is not there.
    """
    paths: list[Path] = []
    problems: list[tuple[Path, str]] = []
    for path in wanted:
        try:
            paths.append(find_leaf(path, schema)[0])
        except ValueError as error:
            problems.append((path, str(error)))
    return tuple(paths), problems
