"""Read the part of a model's configuration that asks for OPTIMIZE after each run."""

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.deltawiden.config.materializations import QUERIED
from dbt.adapters.deltawiden.config.model import DELTA, file_format_of
from dbt.adapters.deltawiden.config.policy import problem

AFTER_RUN = "after_run"
"""The value of ``optimize``."""

SKIP_VARIABLES = ("DATABRICKS_SKIP_OPTIMIZE", "databricks_skip_optimize")
"""The variables with which dbt-databricks skips OPTIMIZE in a whole run,
https://docs.getdbt.com/reference/resource-configs/databricks-configs."""


def zorder_columns(config: Mapping[str, Any]) -> str | Sequence[str]:
    """Return the columns that OPTIMIZE orders the rows by; empty if there are none."""
    columns: str | Sequence[str] = config.get("zorder") or config.get("zorder_by") or ""
    return columns


def is_optimized(config: Mapping[str, Any], variables: Mapping[str, Any]) -> bool:
    """Return whether OPTIMIZE runs after a model was written.

    It does if ``optimize``, the columns of a Z-order or clustering columns are configured, and
    neither the configuration nor one of dbt's variables (``--vars``) skips it.

    Source:
        https://docs.delta.io/latest/delta-clustering.html: OPTIMIZE is what clusters the rows. As
        in dbt-databricks, clustering columns ask for it.
    """
    has_columns = zorder_columns(config) or config.get("liquid_clustered_by")
    if config.get("optimize") != AFTER_RUN and not has_columns:
        return False
    skips = (str(variables.get(name, "false")).lower() == "true" for name in SKIP_VARIABLES)
    return not config.get("skip_optimize") and not any(skips)


def optimize_problems(config: Mapping[str, Any]) -> list[str]:
    """Find values about OPTIMIZE that contradict each other: one line for each problem."""
    if config.get("materialized") not in QUERIED:
        return []  # Views of a folder can have the configuration of its tables.
    found = []
    zorder, zorder_by = config.get("zorder"), config.get("zorder_by")
    if zorder and zorder_by:
        found.append(problem("zorder_by", zorder_by, f"leave it out, because zorder is {zorder!r}"))
    clustered = config.get("liquid_clustered_by")
    if clustered and zorder_columns(config):
        key = "zorder" if zorder else "zorder_by"
        found.append(
            problem(
                key, zorder_columns(config), f"leave it out: liquid_clustered_by is {clustered!r}"
            )
        )
    file_format = file_format_of(config)
    asks = ["optimize"] if config.get("optimize") == AFTER_RUN else []
    asks += [key for key in ("zorder", "zorder_by") if config.get(key)]
    if asks and file_format != DELTA:
        accepted = f"file_format: delta (this model has {file_format})"
        found.append(problem(asks[0], config.get(asks[0]), accepted))
    return found
