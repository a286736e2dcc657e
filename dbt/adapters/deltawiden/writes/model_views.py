"""The views that a model reads, and the views over the table that it widens."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from dbt_common.exceptions import DbtRuntimeError
from dbt_common.invocation import get_invocation_id

from dbt.adapters.deltawiden.config.policy import OnLossyWrite, stops_at_loss
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.spark.errors import UP_CAST
from dbt.adapters.deltawiden.sql.identifiers import Path, folded, parse_path, path_text
from dbt.adapters.deltawiden.views.finder import ViewFinder, view_models
from dbt.adapters.deltawiden.views.graph import depends_on, nodes_after
from dbt.adapters.deltawiden.views.narrow_functions import narrow_functions
from dbt.adapters.deltawiden.views.stale_views import (
    View,
    changed_values_text,
    other_columns_text,
    widened_text,
)
from dbt.adapters.deltawiden.views.text_readers import text_readers
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused


class ModelViews:
    """Finds the views that a model reads and that change values, and the views to update."""

    def __init__(self, finder: ViewFinder) -> None:
        self._finder = finder
        self._logged: set[tuple[str, Path, View]] = set()

    def check_model(self, context: Mapping[str, Any], query: str) -> None:
        """Refuse a model, or warn, if a view that it reads changes values. Nothing is written yet.

        Under ``on_lossy_write: warn`` it is a warning, and under ``ignore`` nothing is checked.

        Raises:
            SchemaChangeRefused: the values would be changed.
        """
        text = self.check(query, context["config"].get("on_lossy_write"), context["graph"])
        if text:
            context["exceptions"]["warn"](text)

    def check_python(self, query: str, config: Mapping[str, Any]) -> None:
        """Refuse a query of a Python model that reads through a view that changes values.

        The data frame that the model returns is checked as well, and a warning is given for it.
        """
        if stops_at_loss(config):
            self.check(query)

    def changing(self, query: str) -> str:
        """Return the names of the views that a query reads through and that change values."""
        return ", ".join(path_text(view.shown) for view in self._finder.stale_in(query))

    def check(
        self, query: str, on_lossy_write: str | None = None, graph: Mapping[str, Any] = {}
    ) -> str:
        """Refuse a query that reads views which change values. Under ``warn``, return the warning.

        Raises:
            SchemaChangeRefused: the values would be changed.
        """
        if on_lossy_write == OnLossyWrite.IGNORE.value:
            return ""
        views = self._finder.stale_in(query)
        if not views:
            return ""
        accepts_loss = on_lossy_write == OnLossyWrite.WARN.value
        text = changed_values_text(
            views, view_models(graph.get("nodes", {}).values()), accepts_loss
        )
        if accepts_loss:
            return text
        raise SchemaChangeRefused(text)

    def log_stale(
        self,
        tables: Iterable[str],
        graph: Mapping[str, Any],
        columns: bool = False,
        made: Collection[str] = (),
        changed_by: str = "",
    ) -> None:
        """Log the views over changed tables that still have the types from before, or fail now.

        It is not a warning to dbt: the tables are changed already, and ``--warn-error`` would stop
        a model that has nothing wrong. A view is logged once a run.

        Args:
            tables: the names of the tables, as for a statement.
            columns: whether the tables have other columns or fields, so that views can fail.
            made: the unique ids of what this run makes again. A view that comes after the node with
                the unique id ``changed_by`` no longer fails then.
        """
        models = view_models(graph.get("nodes", {}).values())
        after = nodes_after(changed_by, graph) if made else {}
        made_again = view_models(node for unique_id, node in after.items() if unique_id in made)
        for table in map(parse_path, tables):
            try:
                found = self._finder.stale_over(table, columns=columns)
            except DbtRuntimeError as error:
                logger.warning(f"The views over {path_text(table)} can't be listed: {error.msg}")
                continue
            new = [view for view in found if (get_invocation_id(), table, view) not in self._logged]
            self._logged.update((get_invocation_id(), table, view) for view in new)
            stale = [view for view in new if view.fails in ("", UP_CAST)]
            failing = [v for v in new if v not in stale and folded(v.shown) not in made_again]
            if stale:
                logger.warning(widened_text(table, stale, models, self._finder.can_follow))
            if failing:
                logger.warning(other_columns_text(table, failing, models))


def types_texts(
    table: str, changes: Sequence[TypeChange], unique_id: str, graph: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return what to say of the nodes that read a column which is wider now. Each can be empty."""
    readers = nodes_after(unique_id, graph) if changes else {}
    functions = _blocks(
        f"{table} is wider now, and functions that come after it have types from before. "
        "Spark casts what they get and return, and can change values without an error.",
        narrow_functions(graph, readers, changes),
    )
    texts = _blocks(
        f"{table} is wider now, and the same value has another text or hash. These nodes keep "
        "rows and can use it. If it is a key, a partition or a check column of theirs, it matches "
        "no row from before, and each such row is stored a second time.",
        (
            (node["name"], details, "; or ".join(do))
            for node, details, do in text_readers(readers, changes)
        ),
    )
    return functions, texts


def _blocks(head: str, found: Iterable[tuple[str, Iterable[str], str]]) -> str:
    lines = [
        line
        for name, details, do in found
        for line in ("", f"  {name}", *(f"    {each}" for each in details), f"    Do: {do}")
    ]
    return "\n".join([head, *lines]) if lines else ""


def readers_texts(plan: Plan, unique_id: str, graph: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what to say of the nodes that read a changed table. A text can be empty."""
    types = types_texts(plan.table, plan.changes, unique_id, graph)
    return _old_names_text(plan, unique_id, graph), *types


def _old_names_text(plan: Plan, unique_id: str, graph: Mapping[str, Any]) -> str:
    """Name the nodes of dbt's graph that read a table and still have an old name in their text."""
    old = [step.path[-1] for step in plan.renamed]
    if not old:
        return ""
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, old))})(?!\w)", re.IGNORECASE)
    found = [
        str(node["name"])
        for node in graph.get("nodes", {}).values()
        if unique_id in depends_on(node) and pattern.search(node.get("raw_code") or "")
    ]
    names = f"{plan.table}: an old name ({', '.join(old)}) is still in the text of "
    return names + ", ".join(sorted(found)) if found else ""
