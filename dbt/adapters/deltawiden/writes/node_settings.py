"""The settings of Spark for all statements of a node, those of its hooks too, or for one write."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from dbt.adapters.spark.relation import SparkRelation

from dbt.adapters.deltawiden.config.strategies import INSERT_OVERWRITE, MICROBATCH, strategy_of
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.writing.store_assignment import STORE_ASSIGNMENT_POLICY

_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


def with_node_settings(
    config: Mapping[str, Any], backend: SqlBackend, has_own_writer: bool
) -> ExitStack:
    """Run statements with a node's settings, until the returned context ends.

    As with dbt-spark, an INSERT OVERWRITE in a hook of a model that overwrites partitions keeps the
    other partitions of its table.

    Args:
        has_own_writer: whether a materialization of the project writes the node. dbt-spark sets the
            mode of overwriting in its own materialization alone.
    """
    settings = ExitStack()
    if policy := config.get("store_assignment_policy"):
        settings.enter_context(backend.with_setting(STORE_ASSIGNMENT_POLICY, str(policy).upper()))
    is_incremental = config.get("materialized") == "incremental" and not has_own_writer
    overwrites = is_incremental and strategy_of(config) in (INSERT_OVERWRITE, MICROBATCH)
    if overwrites and config.get("partition_by"):
        settings.enter_context(backend.with_setting(_OVERWRITE_MODE, "dynamic"))
    return settings


@contextmanager
def overwriting(backend: SqlBackend, table: SparkRelation, mode: str) -> Iterator[None]:
    """Run the statement in the block with a mode of overwriting; empty: with the session's own."""
    if not mode:
        yield
        return
    with backend.with_setting(_OVERWRITE_MODE, mode):
        yield
    if not table.is_delta:
        # Spark and Iceberg cache the files of such a table for each session.
        backend.execute(f"refresh table {table.render()}")


def overwrite_all(
    backend: SqlBackend, table: SparkRelation, run: Callable[..., Any], *given: Any
) -> None:
    """Run a macro whose statement overwrites all partitions of a table."""
    with overwriting(backend, table, "static"):
        run(*given)
