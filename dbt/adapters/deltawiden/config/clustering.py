"""Read and check the part of a model's configuration that decides how a table is clustered."""

from collections.abc import Iterator, Mapping
from typing import Any

from dbt.adapters.deltawiden.config.materializations import TABLES
from dbt.adapters.deltawiden.config.model import DELTA, file_format_of
from dbt.adapters.deltawiden.config.policy import problem
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, read_names
from dbt.adapters.deltawiden.warnings import warn_once

_INSTEAD = "use liquid_clustered_by: [columns], or remove clustered_by"


def read_clustering(config: Mapping[str, Any]) -> tuple[Path, ...] | None:
    """Read the columns of ``liquid_clustered_by``, which a table is to be clustered by.

    An empty list means that it must not be clustered. None means that the key is not set, so that a
    table keeps the clustering that it has.

    Source:
        https://docs.delta.io/latest/delta-clustering.html; the key is that of dbt-databricks
    """
    given = config.get("liquid_clustered_by")
    if given is None or given is False or given == "":
        return None
    return read_names(given)


def changed_clustering(
    wanted: tuple[Path, ...] | None, snapshot: TableSnapshot
) -> tuple[Path, ...] | None:
    """Return what ``read_clustering`` has read, if an existing table has to be changed for it."""
    if wanted is None or not snapshot.is_delta:
        return None
    is_met = list(map(folded, wanted)) == list(map(folded, snapshot.clustering_columns))
    return None if is_met else wanted


def clustering_problems(config: Mapping[str, Any]) -> list[str]:
    """Find the other keys that ``liquid_clustered_by`` can't be combined with: one line for each.

    Source:
        Delta's errors DELTA_CLUSTER_BY_WITH_PARTITIONED_BY and DELTA_CLUSTER_BY_WITH_BUCKETING;
        Spark's UNSUPPORTED_PARTITION_TRANSFORM for the other formats
    """
    is_table = config.get("materialized") in TABLES
    return list(_clustering_problems(config)) if is_table and read_clustering(config) else []


def _clustering_problems(config: Mapping[str, Any]) -> Iterator[str]:
    for key in ("partition_by", "clustered_by"):
        if config.get(key):
            yield (
                f"liquid_clustered_by and {key}: got both; accepted: one of the two. A Delta table "
                "with liquid clustering has neither partitions nor buckets"
            )
    if not _is_delta(config):
        yield problem("file_format", config.get("file_format"), "delta with liquid_clustered_by")


def bucket_problems(config: Mapping[str, Any]) -> list[str]:
    """Find the buckets in the configuration of a new Delta table: at most one line.

    Source:
        Delta's error DELTA_OPERATION_NOT_ALLOWED_DETAIL: `Bucketing` is not supported
    """
    if not _is_delta(config) or not config.get("clustered_by") or not config.get("buckets"):
        return []
    return [f"clustered_by and buckets: Delta has no tables with buckets; {_INSTEAD} and buckets"]


def warn_without_effect(config: Mapping[str, Any], name: str) -> None:
    """Warn once a run of the keys for clustering that have no effect on Delta, or another one.

    It is not an error, because dbt-spark ignores ``clustered_by`` without ``buckets``, and because
    no statement on an existing table has buckets in it.
    """
    if config.get("materialized") not in TABLES or not _is_delta(config):
        return
    texts = []
    if config.get("clustered_by"):
        texts.append(f"clustered_by has no effect on a Delta table: {_INSTEAD}")
    if config.get("auto_liquid_cluster"):
        texts.append(
            "auto_liquid_cluster has no effect: Delta without Databricks has no CLUSTER BY AUTO; "
            "use liquid_clustered_by: [columns]"
        )
    clustered = config.get("liquid_clustered_by")
    kind = [config.get("materialized"), config.get("incremental_strategy")]
    if clustered and kind == ["incremental", "insert_overwrite"]:
        texts.append(
            "insert_overwrite with liquid_clustered_by replaces all rows of the table; "
            "dbt-databricks replaces those with the model's values of the clustering columns. To "
            f"do that, use incremental_strategy: delete+insert with unique_key: {clustered}. To "
            "replace all rows, use materialized: table"
        )
    for text in texts:
        warn_once(text, f"The configuration of {name} (the first node with it in this run)")


def _is_delta(config: Mapping[str, Any]) -> bool:
    return file_format_of(config) == DELTA
