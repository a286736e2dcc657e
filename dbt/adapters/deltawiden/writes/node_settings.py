"""The settings of Spark that the statements of a node have, those of its hooks too."""

from collections.abc import Mapping
from typing import Any

from dbt.adapters.deltawiden.config.strategies import INSERT_OVERWRITE, MICROBATCH, strategy_of
from dbt.adapters.deltawiden.writing.store_assignment import STORE_ASSIGNMENT_POLICY

OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


def node_settings(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings, by their keys.

    As with dbt-spark, an INSERT OVERWRITE in a hook of a model that overwrites partitions keeps the
    other partitions of its table.
    """
    settings = {}
    if policy := config.get("store_assignment_policy"):
        settings[STORE_ASSIGNMENT_POLICY] = str(policy).upper()
    is_incremental = config.get("materialized") == "incremental" and config.get("partition_by")
    if is_incremental and strategy_of(config) in (INSERT_OVERWRITE, MICROBATCH):
        settings[OVERWRITE_MODE] = "dynamic"
    return settings
