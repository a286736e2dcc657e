"""Compile a model's query as in a full refresh, in a run or an operation that is none."""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from dbt.adapters.deltawiden.widening.matched_rows import NotCompared

FullQuery = Callable[[], str]
"""Compiles the model's query as in a full refresh, or raises NotCompared."""

_READING = re.compile(
    r"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:desc|describe|explain|select|show|values|with)\b",
    re.IGNORECASE | re.DOTALL,
)
# A WITH can come before an INSERT.
_WRITING = re.compile(r"\binsert\s+(?:into|overwrite)\b", re.IGNORECASE)


def full_query_of_run(context: Any, check_views: Callable[[Any, str], None]) -> str:
    """Compile the full query of the model that a run writes.

    Args:
        context: dbt's context of the model's materialization.
        check_views: refuses a query that reads a view which would change values.

    Raises:
        NotCompared: no query has all rows of the model. The message is the reason.
    """
    flags = context["flags"]
    if getattr(flags, "EMPTY", False) or getattr(flags, "SAMPLE", None):
        raise NotCompared("under --empty and --sample, no query has all rows")
    query = compile_full_query(context, str(context["model"]["unique_id"]))
    check_views(context, query)
    return query


def compile_full_query(context: Mapping[str, Any], unique_id: str) -> str:
    """Compile a model's query as in a full refresh: ``is_incremental()`` is false, in macros too.

    Ephemeral models are part of it. A statement that the model's text runs may only read.

    Args:
        context: any context of dbt that finds references in the project.

    Raises:
        NotCompared: it has no such query. The message is the reason.
        DbtRuntimeError: dbt can't compile it.
    """
    # dbt-core imports the adapters before it.
    from dbt.compilation import Compiler

    class FullRefresh(Compiler):
        def _create_node_context(self, *args: Any) -> Any:
            context = super()._create_node_context(*args)
            macros = _macros_of_a_full_refresh(context)
            context.update({**macros, "dbt": {**context["dbt"], **macros}})
            return context

    references = context["ref"]
    node = deepcopy(references.manifest.nodes[unique_id])
    if node.language != "sql":
        raise NotCompared("the full query of a Python model is not known")
    node.extra_ctes, node.extra_ctes_injected = [], False
    compiler = FullRefresh(references.config)
    return str(compiler.compile_node(node, references.manifest, write=False).compiled_code)


def _macros_of_a_full_refresh(context: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return what macros with these names do while the full query is rendered."""
    run_statement = context["statement"]

    def statement(*args: Any, caller: Callable[[], Any], **kwargs: Any) -> Any:
        text = str(caller())
        if not _READING.match(text) or _WRITING.search(text):
            first = " ".join(text.split())[:100]
            raise NotCompared(
                f"the model's text runs a statement that a full refresh alone may run: {first}"
            )
        return run_statement(*args, caller=lambda: text, **kwargs)

    return {"is_incremental": lambda: False, "statement": statement}
