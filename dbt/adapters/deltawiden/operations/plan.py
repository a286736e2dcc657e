"""``plan``: show what the next ``dbt run`` will do to the tables of the target."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.evolution.evolution import TableEvolution
from dbt.adapters.deltawiden.operations.markdown import PlanResults
from dbt.adapters.deltawiden.operations.model_plan import new_table_result, plan_model
from dbt.adapters.deltawiden.operations.result import OperationResult, run_on_each
from dbt.adapters.deltawiden.operations.selection import Names, Node, Selection, full_name

Query = Callable[[Node, BaseRelation], str]
"""Renders a model's query for its table; empty if it can't."""


def plan(
    backend: SqlBackend,
    evolution: TableEvolution,
    selection: Selection,
    query: Query,
    models: Names,
) -> PlanResults:
    """Show what the next run will do to the tables of incremental models. It changes nothing.

    Args:
        backend: reads the schemas.
        evolution: plans the changes.
        selection: finds the models and their tables.
        query: renders the queries.
        models: the names of models; None for all incremental models.

    Returns:
        The plan for each model. A refusal is a failure, and so is a query that is not known.

    Raises:
        CompilationError: there is no such model.
    """
    nodes = selection.nodes_named(models, materialized="incremental")

    def plan_node(node: Node) -> OperationResult:
        table = selection.node_relation(node)
        if not isinstance(table, SparkRelation):
            return new_table_result(full_name(node))
        text = query(node, table)
        if not text:
            raise DbtRuntimeError(_NO_QUERY)
        return plan_model(backend, evolution, node, table, backend.query_schema(text), text)

    results = run_on_each(selection.operation, nodes, full_name, plan_node)
    changed = {
        str(node["unique_id"])
        for node, result in zip(nodes, results.each, strict=True)
        if result.error or result.values.get("statements")
    }
    ancestors = _Ancestors(selection.graph)
    named = [
        _with_model(result, node, ancestors.among(node, changed))
        for result, node in zip(results.each, nodes, strict=True)
    ]
    return PlanResults(results.operation, named)


_NO_QUERY = (
    "Its query is not known: the model is in Python, or it uses macros or ephemeral models, which "
    "a plan does not run. For SQL, run dbt compile, then plan with the argument compiled: true."
)


def _with_model(result: OperationResult, node: Node, reads: Sequence[str]) -> OperationResult:
    """Add the model to a result, and the models that the same run changes before it.

    The types that these will have are not known before. So the plan is that for today's types.
    """
    values = {"model": full_name(node), "reads_changed": list(reads), **result.values}
    shown = {**result.shown, "reads models that change": ", ".join(reads)}
    return replace(result, values=values, shown=shown)


@dataclass(frozen=True)
class _Ancestors:
    """Finds the nodes that a node reads, directly or not."""

    graph: Mapping[str, Any]

    def among(self, node: Node, wanted: set[str]) -> list[str]:
        """Return the names of the wanted nodes among those that a node reads."""
        found = set(self._of(str(node["unique_id"]))) & wanted
        return sorted(full_name(self.graph["nodes"][unique_id]) for unique_id in found)

    def _of(self, unique_id: str) -> Iterator[str]:
        seen: set[str] = set()
        waiting = [unique_id]
        while waiting:
            node = self.graph["nodes"].get(waiting.pop(), {})
            parents = set(node.get("depends_on", {}).get("nodes", ())) - seen - {unique_id}
            seen |= parents
            waiting += parents
            yield from parents
