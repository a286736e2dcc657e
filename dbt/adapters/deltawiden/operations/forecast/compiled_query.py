"""The query of a node for its next run: compiled now, or as ``dbt compile`` wrote it."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.widening.matched_rows import NotCompared
from dbt.adapters.deltawiden.writes.model_query import compile_next_query

FULL = "dbt compile --full-refresh"
_WITHOUT_QUERIES = "run-operation"
_HIDDEN = "*****"
"""What dbt writes in place of a secret."""


def compiled_query(
    context: Mapping[str, Any], node: Node, table: BaseRelation | None, command: str = FULL
) -> str:
    """Read the query of a model, macros included, that ``dbt compile`` wrote. Empty for Python.

    Args:
        command: the command that writes the query, for the errors. Without ``--full-refresh``, the
            query is the incremental one if the table exists.

    Raises:
        DbtRuntimeError: there is no such file, the model's file is newer, or the file has another
            query than that of this command, target and variables.
    """
    if node.get("language", "sql") != "sql":
        return ""
    config, package = context["adapter"].config, str(node["package_name"])
    file = str(node["original_file_path"])
    compiled = Path(config.project_target_path, "compiled", package, file)
    is_own = package == config.project_name
    root = config if is_own else config.load_dependencies()[package]
    source = Path(root.project_root, file)
    if not compiled.is_file():
        raise DbtRuntimeError(f"There is no {compiled}: run {command}.")
    written = compiled.stat().st_mtime
    if source.is_file() and source.stat().st_mtime > written:
        raise DbtRuntimeError(f"{source} is newer than {compiled}: run {command} again.")
    query = compiled.read_text(encoding="utf-8")
    results = Path(config.project_target_path, "run_results.json")
    last = _last_command(results, str(node["unique_id"]), written)
    for what in _differing(context, node, query, last, table, command == FULL):
        raise DbtRuntimeError(
            f"{compiled} {what}. Run {command} again, with the target and the --vars of this "
            "operation."
        )
    return query


def _last_command(results: Path, unique_id: str, written: float) -> Mapping[str, Any]:
    """Return the arguments of the last dbt command if it has written the query of a node."""
    if not results.is_file() or results.stat().st_mtime < written:
        return {}
    found = json.loads(results.read_text(encoding="utf-8"))
    arguments: Mapping[str, Any] = found["args"]
    nodes = {result["unique_id"] for result in found["results"]}
    return arguments if unique_id in nodes and arguments["which"] != _WITHOUT_QUERIES else {}


def _differing(
    context: Mapping[str, Any],
    node: Node,
    query: str,
    last: Mapping[str, Any],
    table: BaseRelation | None,
    is_full: bool,
) -> Iterator[str]:
    """Yield the reasons why a compiled query is not the one that is asked for.

    Args:
        last: the arguments of the command that has written it. Empty if they are not known.
        is_full: whether the query of a full refresh is asked for.
    """
    read = [str(name) for name in _relation_names(context["graph"], node)]
    if read and not any(_names(query, name) for name in read):
        yield f"does not read {' or '.join(read)}, as the model does for this target"
    if table is not None and not is_full and last.get("full_refresh"):
        yield f"is what dbt {last['which']} --full-refresh wrote"
    if table is not None and is_full and _names(query, table.render()):
        yield f"reads the model's own table {table.render()}, so it is not the full query"
    if table is not None and is_full:
        yield from _not_full(last)
    if last and not _has_vars(last, context["invocation_args_dict"]):
        yield f"was written by dbt {last['which']} with other --vars"


def _not_full(last: Mapping[str, Any]) -> Iterator[str]:
    if not last:
        yield f"is not known to be what {FULL} wrote, because another dbt command has run since"
    elif not last.get("full_refresh"):
        yield f"is what dbt {last['which']} without --full-refresh wrote"
    elif last.get("empty") or last.get("sample"):
        yield f"is what dbt {last['which']} with --empty or --sample wrote"


def _has_vars(last: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    before = last.get("vars") or {}
    return _HIDDEN in json.dumps(before) or before == (now.get("vars") or {})


def _relation_names(graph: Mapping[str, Any], node: Node) -> Iterator[str]:
    every = {**graph["nodes"], **graph["sources"]}
    for name in node["depends_on"]["nodes"]:
        relation = every.get(name, {}).get("relation_name")
        if relation:
            yield relation


def _names(query: str, relation: str) -> bool:
    return re.search(rf"(?<![\w`.]){re.escape(relation)}(?![\w`.])", query) is not None


def node_query(
    context: Mapping[str, Any], compiled: bool, node: Node, table: BaseRelation | None
) -> str:
    """Return the query of a node: compiled now, or as ``dbt compile`` wrote it.

    It is empty if it is not known: the node is in Python, dbt can't compile it, or its text does
    what its run alone may do. dbt's log has the reason.

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
