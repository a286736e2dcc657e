"""Name the temporary views that a model's rows are read from.

All threads share one session, and batches of a model can run at the same time. So a name must be
unique to the model, its catalog and schema, and the batch.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_common.utils import md5


def session_view(model: Mapping[str, Any]) -> str:
    """Return the name of the view of a model's query, which the write reads."""
    return _name(model, "__dbt_tmp")


def python_view(model: Mapping[str, Any]) -> str:
    """Return the name of the view of a Python model's data frame."""
    return _name(model, "__dbt_py")


def declared_view(model: Mapping[str, Any]) -> str:
    """Return the name of the view whose columns have the declarations of a model's contract."""
    return _name(model, "__dbt_new")


def seed_view(seed: Mapping[str, Any]) -> str:
    """Return the name of the view of a seed's rows."""
    return _name(seed, "__dbt_seed")


def data_frame_views(node: Any) -> Iterator[str]:
    """Yield the names of the views that the adapter can have made from a node's data frames."""
    if getattr(node, "language", None) == "python":
        yield python_view(node.to_dict(omit_none=True))
    if getattr(node, "resource_type", None) == "seed":
        yield seed_view(node.to_dict(omit_none=True))
    if any(column.constraints for column in getattr(node, "columns", {}).values()):
        yield declared_view(node.to_dict(omit_none=True))


def _name(model: Mapping[str, Any], suffix: str) -> str:
    batch = model.get("batch") or {}
    catalog = f"{model['database']}." if model.get("database") else ""
    place = f"{catalog}{model['schema']}{batch.get('id', '')}"
    return f"{model['alias']}{suffix}_{md5(place)[:8]}"
