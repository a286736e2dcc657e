"""``check_type_widening``: show what a deployment will do to the tables of another schema."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.relations import relation_sql
from dbt.adapters.deltawiden.evolution.evolution import TableEvolution
from dbt.adapters.deltawiden.operations.markdown import PlanResults
from dbt.adapters.deltawiden.operations.model_plan import new_table_result, plan_model
from dbt.adapters.deltawiden.operations.result import OperationResult, run_on_each
from dbt.adapters.deltawiden.operations.selection import (
    Names,
    Node,
    Selection,
    full_name,
)


def check_type_widening(
    backend: SqlBackend,
    evolution: TableEvolution,
    selection: Selection,
    schema_exists: Callable[[str | None, str], bool],
    deployed_query: Callable[[Node, SparkRelation], str],
    against: str | None,
    models: Names,
) -> PlanResults:
    """Compare what models build in the target's schema with their tables in another.

    Args:
        backend: reads the schemas.
        evolution: plans the changes.
        selection: finds the models and their tables.
        schema_exists: returns whether there is a schema in a catalog.
        deployed_query: renders a model's query for its deployed table; empty if it can't.
        against: the schema to compare with; ``catalog.schema`` in another catalog.
        models: the names of models; None for all incremental models.

    Returns:
        What a deployment would do to each table. A refusal is a failure.

    Raises:
        CompilationError: there are no tables to compare with.
    """
    own_schema = selection.target_schema
    if not against or _is_target(selection, against):
        raise selection.error(
            f"`against` must name the schema to compare with, another than {own_schema}"
        )
    nodes = selection.nodes_named(models, materialized="incremental")
    checked = [_find(selection, node, against) for node in nodes]
    if checked and not any(model.table for model in checked):
        # If the schema's name is misspelt, every model would otherwise pass as new.
        schemas = list(dict.fromkeys((model.catalog, model.schema) for model in checked))
        if not any(schema_exists(*schema) for schema in schemas):
            missing = ", ".join(".".join(filter(None, schema)) for schema in schemas)
            raise selection.error(f"there is nothing to compare with: no schema {missing}")
    check = partial(_check, backend, evolution, deployed_query)
    results = run_on_each(selection.operation, checked, lambda model: model.name, check)
    named = [_with_model(*pair) for pair in zip(results.each, checked, strict=True)]
    return PlanResults(results.operation, named)


def _is_target(selection: Selection, against: str) -> bool:
    own = (selection.target_catalog, selection.target_schema)
    return against == own[1] or selection.catalog_and_schema(against) == own


@dataclass(frozen=True)
class _Model:
    """A model to check.

    Attributes:
        name: its name.
        node: its node in dbt's graph.
        catalog: the catalog that its deployment writes to, if it is in the name.
        schema: the schema that its deployment writes to.
        built: the relation that it built in the target's schema, or None.
        table: the table that its deployment writes to, or None.
    """

    name: str
    node: Node
    catalog: str | None
    schema: str
    built: BaseRelation | None
    table: BaseRelation | None


def _find(selection: Selection, node: Node, against: str) -> _Model:
    schema, own_schema = str(node["schema"]), selection.target_schema
    # dbt appends the name of a custom schema to the target's: ci_finance matches prod_finance.
    if schema != own_schema and not schema.startswith(f"{own_schema}_"):
        raise selection.error(
            f"the schema of {full_name(node)}, {schema}, is not one of the target's "
            f"({own_schema}), so there is none to compare with"
        )
    own_catalog, (catalog, other) = node.get("database"), selection.catalog_and_schema(against)
    # A model that is configured to be in another catalog than the target's is there everywhere.
    catalog = catalog if own_catalog == selection.target_catalog else own_catalog
    deployed = other + schema[len(own_schema) :]
    return _Model(
        name=full_name(node),
        node=node,
        catalog=catalog,
        schema=deployed,
        built=selection.get_relation(own_catalog, schema, node["alias"]),
        table=selection.get_relation(catalog, deployed, node["alias"]),
    )


def _check(
    backend: SqlBackend,
    evolution: TableEvolution,
    deployed_query: Callable[[Node, SparkRelation], str],
    model: _Model,
) -> OperationResult:
    if model.built is None:
        raise DbtRuntimeError(
            "is not built in this target's schema: run it there first, for example with "
            f"dbt run --empty --select {model.name}"
        )
    if not isinstance(model.table, SparkRelation):
        return new_table_result(model.name)
    query = deployed_query(model.node, model.table)
    output = _output(backend, model.built, query if evolution.reads(query, model.table) else "")
    return plan_model(backend, evolution, model.node, model.table, output, query)


def _output(backend: SqlBackend, built: BaseRelation, query: str) -> StructType:
    """Return the schema of a model's output: its query's if that is given, or what was built."""
    if query:
        # A model that reads its own table has other types there than where it was built first.
        with contextlib.suppress(DbtRuntimeError):
            return backend.query_schema(query)
    return backend.schema(built)


def _with_model(result: OperationResult, model: _Model) -> OperationResult:
    """Add the model and its table to a result, whether the check failed or not."""
    table = {"table": relation_sql(model.table)} if model.table else {}
    return replace(result, values={"model": model.name, **table, **result.values})
