"""Compile a model's query as another run would: as a full refresh, or as the next run."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from types import SimpleNamespace
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse
from dbt_common.clients.agate_helper import empty_table
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.deltawiden.config.declared_columns import is_contract_enforced
from dbt.adapters.deltawiden.sql.identifiers import read_name
from dbt.adapters.deltawiden.sql.queries import mentions, reads_only, without_texts
from dbt.adapters.deltawiden.widening.matched_rows import NotCompared

FullQuery = Callable[[], str]
"""Compiles the model's query as in a full refresh, or raises NotCompared."""

_RUNS = ("run", "build")

_CHANGING = frozenset(
    {
        *("create_schema", "drop_relation", "drop_schema", "expand_target_column_types"),
        *("operations", "optimize_after_run", "rename_relation", "truncate_relation"),
    }
)
"""Methods of the adapter that change tables and schemas."""


def full_query_of_run(context: Any, check_views: Callable[[Any, str], None]) -> str:
    """Compile the full query of the model that a run writes, and check the views that it reads."""
    # dbt's flags in a context lack SAMPLE.
    is_sample = context["invocation_args_dict"].get("sample")
    if getattr(context["flags"], "EMPTY", False) or is_sample:
        raise NotCompared("under --empty and --sample, no query has all rows")
    unique_id = str(context["model"]["unique_id"])
    query = compile_full_query(context, unique_id)
    check_views(context, query)
    return checked_by_contract(context, unique_id, query)


def checked_by_contract(
    context: Mapping[str, Any], unique_id: str, query: str, key: Sequence[str] = ()
) -> str:
    """Add the conditions of a model's enforced contract to a query for its rows, as a run does.

    Args:
        key: the columns by which the rows are found. By default they are the model's own.
    """
    # dbt-core imports the adapters before it.
    from dbt.context.providers import generate_runtime_model_context

    references = context["builtins"]["ref"]
    node = references.manifest.nodes[unique_id]
    if not is_contract_enforced(node.config):
        return query
    node = deepcopy(node)
    # Conditions of the model are in a column of the key, and Spark skips what nothing uses.
    node.config.unique_key = list(key) or node.config.unique_key
    own = generate_runtime_model_context(node, references.config, references.manifest)
    return str(own["get_select_subquery"](query))


def compile_full_query(context: Mapping[str, Any], unique_id: str) -> str:
    """Compile a model's query as in a full refresh: ``is_incremental()`` is false, in macros too.

    Raises:
        NotCompared: it has no such query, or dbt can't compile it. The message is the reason.
    """
    try:
        return _compile(context, unique_id, is_incremental=False, is_full=True)
    except DbtRuntimeError as error:
        raise NotCompared(f"dbt can't compile its full query: {error.msg}") from error


def compile_next_query(
    context: Mapping[str, Any], unique_id: str, table: BaseRelation | None
) -> str:
    """Compile the query of a node as its next run will.

    Args:
        table: what the node's run finds: ``this`` in its text. None if there is no table yet.

    Raises:
        NotCompared: it is in Python.
        DbtRuntimeError: dbt can't compile it.
    """
    is_incremental = table is not None and not table.is_view
    return _compile(context, unique_id, is_incremental, values={"this": table} if table else {})


def hook_statements(context: Mapping[str, Any], unique_id: str) -> list[str]:
    """Return what hooks run before a node, or what a hook of the project runs.

    These are the statements of the hooks and of their macros. None of them is run that does more
    than read. The texts of the hooks come with them: another run can have rendered them otherwise.

    Raises:
        NotCompared: dbt can't render a hook. The message is the reason.
    """
    # dbt-core imports the adapters before it.
    from dbt.clients.jinja import get_rendered
    from dbt.context.providers import generate_runtime_model_context

    references, found = context["builtins"]["ref"], []
    node = references.manifest.nodes[unique_id]
    is_of_project = node.resource_type == "operation"
    for text in [node.raw_code] if is_of_project else [hook.sql for hook in node.config.pre_hook]:
        own = generate_runtime_model_context(node, references.config, references.manifest)
        adapter = _HookAdapter(own["adapter"])
        own.update(adapter=adapter, flags=_flags_of_run(own["flags"], is_full=False))
        try:
            rendered = get_rendered(text, own, node)
        except Exception as error:  # A macro can raise anything.
            # It can need what a statement makes that was left out, here or in an earlier hook.
            if not (adapter.not_run or isinstance(error, DbtDatabaseError)):
                raise NotCompared(
                    f"dbt can't render its hook {text} outside of a run, so it is not known what "
                    f"the hook sets: {getattr(error, 'msg', error)}. Set it in the profile, and "
                    "leave the hook out here: {% if invocation_args_dict.which != 'run-operation' "
                    "%} ... {% endif %}"
                ) from error
            rendered = ""
        found += [text, *adapter.not_run, rendered]
    return found


def _compile(
    context: Mapping[str, Any],
    unique_id: str,
    is_incremental: bool,
    is_full: bool = False,
    values: Mapping[str, Any] | None = None,
) -> str:
    """Compile a query, with the ephemeral models that it reads, while its text may only read.

    Args:
        is_incremental: what ``is_incremental()`` returns for an incremental model.
        is_full: whether the text is that of a full refresh.
        values: what the context of the node has instead of dbt's.
    """
    # dbt-core imports the adapters before it.
    from dbt.compilation import Compiler

    class OutsideOfItsRun(Compiler):
        def _create_node_context(self, node: Any, *args: Any) -> Any:
            context = super()._create_node_context(node, *args)
            is_it = is_incremental and node.config.materialized == "incremental"
            is_it = is_it and not node.config.full_refresh
            macros = {"is_incremental": lambda: is_it}
            if is_full:
                macros["should_full_refresh"] = lambda: True
            context.update({**macros, "dbt": {**context["dbt"], **macros}})
            context["flags"] = _flags_of_run(context["flags"], is_full)
            context["adapter"] = _ReadingAdapter(context["adapter"])
            context.update((values or {}) if node.unique_id == unique_id else {})
            return context

        def _write_node(self, node: Any, *args: Any) -> Any:
            # Not even the file of an ephemeral model, which is that of the run.
            return node

    # A project can have its own `ref`.
    references = context["builtins"]["ref"]
    if references.manifest.nodes[unique_id].language != "sql":
        raise NotCompared("the full query of a Python model is not known")
    manifest = _not_compiled(references.manifest, unique_id)
    node, compiler = manifest.nodes[unique_id], OutsideOfItsRun(references.config)
    query = str(compiler.compile_node(node, manifest, write=False).compiled_code)
    own = node.relation_name
    if is_full and own and mentions(without_texts(query), read_name(own)):
        raise NotCompared(f"its full query reads the model's own table {own}")
    return query


def _not_compiled(manifest: Any, unique_id: str) -> Any:
    """Return a manifest in which a node, and the ephemeral models in its query, are not compiled.

    dbt compiles an ephemeral model once a run, with what the run has, and keeps it in the manifest.
    """
    # copy() would call its __reduce_ex__, which leaves out two fields.
    changed = object.__new__(type(manifest))
    vars(changed).update(vars(manifest))
    changed.nodes, waiting = dict(manifest.nodes), [unique_id]
    while waiting:
        node = manifest.nodes[waiting.pop()]
        changed.nodes[node.unique_id] = node = deepcopy(node)
        node.compiled, node.compiled_code = False, None
        node.extra_ctes, node.extra_ctes_injected = [], False
        # dbt has compiled their references in place, and can't compile them again.
        for each in (node, *node.columns.values()):
            kept = (one for one in getattr(each, "constraints", ()) if one.type != "foreign_key")
            each.constraints = list(kept)
        read = (manifest.nodes.get(other) for other in node.depends_on_nodes)
        waiting += [
            other.unique_id
            for other in read
            if other and other.is_ephemeral_model and other is changed.nodes[other.unique_id]
        ]
    return changed


def _flags_of_run(flags: Any, is_full: bool) -> Any:
    """Return dbt's flags, of whatever command, as those of a run."""
    flags = copy(flags)
    flags.WHICH = flags.WHICH if flags.WHICH in _RUNS else "run"
    flags.FULL_REFRESH = is_full or flags.FULL_REFRESH
    return flags


class _ReadingAdapter:
    """dbt's adapter for text that is compiled outside its own run: it only reads."""

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


class _HookAdapter(_ReadingAdapter):
    """dbt's adapter for a hook outside its own run. It keeps the statements that it does not run.

    Most hooks need no result of them.
    """

    def __init__(self, adapter: Any) -> None:
        super().__init__(adapter)
        self.not_run: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return _no_change if name in _CHANGING else getattr(self._adapter, name)

    def execute(self, sql: str, *args: Any, **kwargs: Any) -> Any:
        if reads_only(sql):
            return super().execute(sql, *args, **kwargs)
        self.not_run.append(sql)
        return AdapterResponse("OK"), empty_table()

    def add_query(self, sql: str, *args: Any, **kwargs: Any) -> Any:
        if reads_only(sql):
            return super().add_query(sql, *args, **kwargs)
        self.not_run.append(sql)
        return None, None


def _no_change(*_: Any, **__: Any) -> Any:
    """Do nothing, instead of a method of the adapter or of an operation, which has ``run``."""
    return SimpleNamespace(run=_no_change)


def _reading(sql: str) -> str:
    """Return a statement that only reads."""
    if not reads_only(sql):
        shown = " ".join(sql.split())[:100]
        raise NotCompared(f"the model's text runs a statement that its run alone may run: {shown}")
    return sql
