"""Find the query that the next run of a node has, for a check that runs no model."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.operations.forecast.compiled_query import compiled_query
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.widening.matched_rows import NotCompared
from dbt.adapters.deltawiden.writes.model_query import compile_next_query

logger = AdapterLogger("DeltaWiden")


def node_query(
    context: Mapping[str, Any], compiled: bool, node: Node, table: BaseRelation | None
) -> str:
    """Return the query of a node: compiled now, or as ``dbt compile`` wrote it.

    It is empty if it is not known: the node is in Python, dbt can't compile it, or its text runs a
    statement that changes something.

    Args:
        compiled: whether the queries of incremental models are those that ``dbt compile`` wrote,
            and those of other models too if they are not known otherwise.

    Raises:
        DbtRuntimeError: ``compiled`` is true, and an incremental model's file is missing or old.
    """
    written = partial(compiled_query, context, node, table, command="dbt compile")
    if compiled and node["config"].get("materialized") == "incremental":
        return written()
    try:
        return compile_next_query(context, str(node["unique_id"]), table)
    except (NotCompared, DbtRuntimeError) as error:
        logger.debug(f"The query of {full_name(node)} is not known: {error}")
    with suppress(DbtRuntimeError):
        return written() if compiled else ""
    return ""
