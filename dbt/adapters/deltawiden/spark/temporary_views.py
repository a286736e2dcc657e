"""Name the temporary views that a model's rows are read from.

All threads share one session, and batches of a model can run at the same time. So a name must be
unique to the model, its catalog and schema, and the batch.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_common.utils import md5

WRITE = "__dbt_tmp"
"""The view of a model's query, which the write reads."""

PYTHON = "__dbt_py"
"""The view of a Python model's data frame."""

DECLARED = "__dbt_new"
"""The view whose columns have the declarations of a model's contract."""

SEED = "__dbt_seed"
"""The view of a seed's rows."""


def temporary_view(model: Mapping[str, Any], suffix: str) -> str:
    """Return the name of a view of a model or seed. The suffixes are above."""
    batch = model.get("batch") or {}
    catalog = f"{model['database']}." if model.get("database") else ""
    place = f"{catalog}{model['schema']}{batch.get('id', '')}"
    return f"{model['alias']}{suffix}_{md5(place)[:8]}"


def data_frame_views(node: Any) -> Iterator[str]:
    """Yield the names of the views that the adapter can have made from a node's data frames."""
    if getattr(node, "language", None) == "python":
        yield temporary_view(node.to_dict(omit_none=True), PYTHON)
    if getattr(node, "resource_type", None) == "seed":
        yield temporary_view(node.to_dict(omit_none=True), SEED)
    if any(column.constraints for column in getattr(node, "columns", {}).values()):
        yield temporary_view(node.to_dict(omit_none=True), DECLARED)
