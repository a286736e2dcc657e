"""Render a model's query as its next run in a deployment will, for a check that runs no model."""

from collections.abc import Mapping
from typing import Any

import jinja2
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.deltawiden.operations.selection import Node, full_name

logger = AdapterLogger("DeltaWiden")

_NAMES = ("ref", "source", "var", "env_var", "target", "modules", "run_started_at", "invocation_id")
"""What a rendered query can use of dbt's context. None of it can run a statement: a model can call
``run_query``, and a check changes nothing."""


def deployed_query(context: Mapping[str, Any], node: Node, table: BaseRelation) -> str:
    """Render the query of an incremental model for a table that exists already.

    Args:
        context: dbt's context of the operation.
        node: the model.
        table: the table, which is ``this`` in the query.

    Returns:
        The query. Empty if it is not known: the model is in Python, or it uses macros.
    """
    if node.get("language", "sql") != "sql":
        return ""
    known = {name: context[name] for name in _NAMES if name in context}
    known |= {"this": table, "is_incremental": lambda: True, "execute": True, "model": node}
    known |= {"config": _Config(node["config"])}
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"]
    )
    try:
        return environment.from_string(node["raw_code"]).render(known)
    except Exception as error:  # A template can raise any exception.
        logger.debug(f"The query of {full_name(node)} can't be rendered by itself: {error}")
        return ""


class _Config:
    """The configuration of a model in its own text: it can be read, and is set already."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config

    def __call__(self, *_: Any, **__: Any) -> str:
        return ""

    def get(self, name: str, default: Any = None, **_: Any) -> Any:
        return self._config.get(name, default)

    require = get
