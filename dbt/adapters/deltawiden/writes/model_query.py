"""Compile a model's query as another run would: as a full refresh, or as the next run."""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.widening.matched_rows import NotCompared

FullQuery = Callable[[], str]
"""Compiles the model's query as in a full refresh, or raises NotCompared."""

_READING = re.compile(
    r"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:desc|describe|explain|select|show|values|with)\b",
    re.IGNORECASE | re.DOTALL,
)
# A WITH can come before an INSERT.
_WRITING = re.compile(r"\binsert\s+(?:into|overwrite)\b", re.IGNORECASE)

_CHANGING = frozenset(
    {
        "create_schema",
        "drop_relation",
        "drop_schema",
        "expand_target_column_types",
        "rename_relation",
        "truncate_relation",
    }
)
"""dbt's methods of an adapter that change tables and schemas."""


def full_query_of_run(context: Any, check_views: Callable[[Any, str], None]) -> str:
    """Compile the full query of the model that a run writes.

    Args:
        context: dbt's context of the model's materialization.
        check_views: refuses a query that reads a view which would change values.

    Raises:
        NotCompared: no query has all rows of the model. The message is the reason.
    """
    # dbt's flags in a context lack SAMPLE.
    is_sample = context["invocation_args_dict"].get("sample")
    if getattr(context["flags"], "EMPTY", False) or is_sample:
        raise NotCompared("under --empty and --sample, no query has all rows")
    query = compile_full_query(context, str(context["model"]["unique_id"]))
    check_views(context, query)
    return query


def compile_full_query(context: Mapping[str, Any], unique_id: str) -> str:
    """Compile a model's query as in a full refresh: ``is_incremental()`` is false, in macros too.

    Args:
        context: any context of dbt that finds references in the project.

    Raises:
        NotCompared: it has no such query, or dbt can't compile it. The message is the reason.
    """
    try:
        return _compile(context, unique_id, is_incremental=False)
    except DbtRuntimeError as error:
        raise NotCompared(f"dbt can't compile its full query: {error.msg}") from error


def compile_next_query(
    context: Mapping[str, Any], unique_id: str, table: BaseRelation | None
) -> str:
    """Compile the query of a node as its next run will.

    Args:
        context: as for ``compile_full_query``.
        table: what the node's run finds: ``this`` in its text. None if there is no table yet.

    Raises:
        NotCompared: it is in Python.
        DbtRuntimeError: dbt can't compile it.
    """
    is_incremental = table is not None and not table.is_view
    return _compile(context, unique_id, is_incremental, {"this": table} if table else {})


def _compile(
    context: Mapping[str, Any],
    unique_id: str,
    is_incremental: bool,
    values: Mapping[str, Any] | None = None,
) -> str:
    """Compile a query, with the ephemeral models that it reads, while its text may only read.

    Args:
        is_incremental: what it is for a model that is materialized so.
        values: what the context of the node has instead of dbt's.
    """
    # dbt-core imports the adapters before it.
    from dbt.compilation import Compiler

    class OutsideOfItsRun(Compiler):
        def _create_node_context(self, node: Any, *args: Any) -> Any:
            context = super()._create_node_context(node, *args)
            is_it = is_incremental and node.config.materialized == "incremental"
            macros = {"is_incremental": lambda: is_it}
            context.update({**macros, "dbt": {**context["dbt"], **macros}})
            context["adapter"] = _ReadingAdapter(context["adapter"])
            context.update((values or {}) if node.unique_id == unique_id else {})
            return context

    # A project can have its own `ref`.
    references = context["builtins"]["ref"]
    node = deepcopy(references.manifest.nodes[unique_id])
    if node.language != "sql":
        raise NotCompared("the full query of a Python model is not known")
    node.extra_ctes, node.extra_ctes_injected = [], False
    compiler = OutsideOfItsRun(references.config)
    return str(compiler.compile_node(node, references.manifest, write=False).compiled_code)


class _ReadingAdapter:
    """dbt's adapter in the text of a model whose run this is not: it only reads."""

    def __init__(self, adapter: Any) -> None:
        self._adapter = adapter

    def __getattr__(self, name: str) -> Any:
        if name in _CHANGING:
            raise NotCompared(f"the model's text calls adapter.{name}, which its run alone may do")
        return getattr(self._adapter, name)

    def execute(self, sql: str, *args: Any, **kwargs: Any) -> Any:
        return self._adapter.execute(_reading(sql), *args, **kwargs)

    def add_query(self, sql: str, *args: Any, **kwargs: Any) -> Any:
        return self._adapter.add_query(_reading(sql), *args, **kwargs)


def _reading(sql: str) -> str:
    """Return a statement that only reads."""
    if not _READING.match(sql) or _WRITING.search(sql):
        first = " ".join(sql.split())[:100]
        raise NotCompared(f"the model's text runs a statement that its run alone may run: {first}")
    return sql
