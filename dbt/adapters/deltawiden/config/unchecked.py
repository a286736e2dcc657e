"""Warn that the values of a node are not checked, because a project or a package writes them."""

from collections.abc import Mapping
from typing import Any

from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.warnings import warn_once


def warn_unchecked(config: Mapping[str, Any], name: str, writer: str) -> None:
    """Warn once a run that the values of a node are not checked, unless the node accepts that.

    Args:
        writer: what writes the node's rows. Empty if the values are checked.
    """
    if writer and not accepts_unchecked(config):
        where = f"{name} (the first node with it in this run)"
        warn_once(". ".join(unchecked_text(writer)), where)


def accepts_unchecked(config: Mapping[str, Any]) -> bool:
    """Return whether a node accepts that its values are not checked."""
    accepts_loss = config.get("on_lossy_write") in (OnLossyWrite.WARN, OnLossyWrite.IGNORE)
    return accepts_loss or bool(config.get("store_assignment_policy"))


def unchecked_text(writer: str) -> tuple[str, str]:
    """Say that the values of a node are not checked, and what to do."""
    return (
        f"its rows are written by {writer}. dbt-deltawiden does not check these values, and "
        "widens no table for them: Spark casts a value to the type of its column, so that 1.2367 "
        "is 1.24 in a decimal(8,2)",
        "Cast the columns to the types of the table in the model itself, and set on_lossy_write: "
        "ignore in its configuration. Or set store_assignment_policy: strict there: Spark then "
        "refuses such casts, except integers in a float or double column.",
    )
