"""Render a model's query as its next run in a deployment will, for a check that runs no model."""

from collections.abc import Mapping
from typing import Any

import jinja2
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.operations.forecast.compiled_query import compiled_query
from dbt.adapters.deltawiden.operations.selection import Node, full_name

logger = AdapterLogger("DeltaWiden")

_NAMES = ("env_var", "target", "modules", "run_started_at", "invocation_id")
"""What a rendered query can use of dbt's context, beside references and variables. None of it can
run a statement: a model can call ``run_query``, and a check changes nothing."""


def deployed_query(context: Mapping[str, Any], node: Node, table: BaseRelation | None) -> str:
    """Render the query of an incremental model for a table that exists already: ``this``.

    It is empty if the model is in Python or uses macros.
    """
    if node.get("language", "sql") != "sql":
        return ""
    known = {name: context[name] for name in _NAMES if name in context}
    known |= _of_package(context, node)
    known |= {
        "this": table,
        "is_incremental": lambda: True,
        "execute": True,
        "model": node,
    }
    known |= {"config": _Config(node["config"])}
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"]
    )
    try:
        return environment.from_string(node["raw_code"]).render(known)
    except Exception as error:  # A template can raise any exception.
        logger.debug(f"The query of {full_name(node)} can't be rendered by itself: {error}")
        return ""


def node_query(
    context: Mapping[str, Any], compiled: bool, node: Node, table: BaseRelation | None
) -> str:
    """Return the query of a node: rendered, or as ``dbt compile`` wrote it. Empty if not known.

    The query of a view or table with macros is read from what dbt has compiled, if that is not
    older than the model: it does not depend on what is built.

    Args:
        compiled: whether the queries of incremental models are those that ``dbt compile`` wrote.

    Raises:
        DbtRuntimeError: ``compiled`` is true, and an incremental model's file is missing or old.
    """
    is_incremental = node["config"].get("materialized") == "incremental"
    if compiled and is_incremental:
        return compiled_query(context, node, table, command="dbt compile")
    query = deployed_query(context, node, table)
    if query or is_incremental:
        return query
    try:
        return compiled_query(context, node, table, command="dbt compile")
    except DbtRuntimeError as error:
        logger.debug(f"The query of {full_name(node)} is not compiled: {error.msg}")
        return ""


def _of_package(context: Mapping[str, Any], node: Node) -> dict[str, Any]:
    """Return what finds references and variables for a node: in its own package first.

    Those of an operation's context look in the package of the operation's macro.
    """
    own, variables = context["ref"], context["var"]
    model = own.manifest.nodes[node["unique_id"]]
    found = {
        name: type(context[name])(own.db_wrapper, model, own.config, own.manifest)
        for name in ("ref", "source")
    }
    return {**found, "var": type(variables)(variables._context, variables._config, model)}


class _Config:
    """The configuration of a model in its own text: it can be read, and is set already."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config

    def __call__(self, *_: Any, **__: Any) -> str:
        return ""

    def get(self, name: str, default: Any = None, **_: Any) -> Any:
        return self._config.get(name, default)

    require = get
