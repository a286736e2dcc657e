"""The settings of Spark that the statements of a node have, those of its hooks too."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from dbt.adapters.deltawiden.config.strategies import INSERT_OVERWRITE, MICROBATCH, strategy_of
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.writing.store_assignment import STORE_ASSIGNMENT_POLICY

OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


def with_node_settings(config: Mapping[str, Any], backend: SqlBackend) -> ExitStack:
    """Run statements with a node's settings, until the returned context ends.

    As with dbt-spark, an INSERT OVERWRITE in a hook of a model that overwrites partitions keeps the
    other partitions of its table.
    """
    settings = ExitStack()
    if policy := config.get("store_assignment_policy"):
        settings.enter_context(backend.with_setting(STORE_ASSIGNMENT_POLICY, str(policy).upper()))
    is_incremental = config.get("materialized") == "incremental" and config.get("partition_by")
    if is_incremental and strategy_of(config) in (INSERT_OVERWRITE, MICROBATCH):
        settings.enter_context(backend.with_setting(OVERWRITE_MODE, "dynamic"))
    return settings
