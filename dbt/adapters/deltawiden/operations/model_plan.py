"""What the next run of an incremental model will do to its table, without running it."""

from collections.abc import Mapping
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.policy import OnLossyWrite, Policy
from dbt.adapters.deltawiden.config.validation import read_model_policy
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.evolution.evolution import TableEvolution
from dbt.adapters.deltawiden.evolution.incremental_plan import plan_incremental
from dbt.adapters.deltawiden.operations.result import OperationResult
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan


def plan_model(
    backend: SqlBackend,
    evolution: TableEvolution,
    node: Node,
    table: SparkRelation,
    output: StructType,
    query: str,
) -> OperationResult:
    """Return what a model's next run will do to its table.

    Args:
        backend: reads the table's schema.
        evolution: plans the changes.
        node: the model.
        table: its table.
        output: the schema of the model's output.
        query: the model's query; empty if it is not known.

    Raises:
        SchemaChangeRefused: the run will be refused.
        CompilationError: the model lacks a column of its unique key.
        DbtConfigError: a configuration of the model is not accepted.
    """
    config: Mapping[str, Any] = node["config"]
    policy = read_model_policy(config, full_name(node))
    plan = plan_incremental(
        evolution,
        (output, backend.table_schema(table)),
        table,
        policy,
        config,
        full_name(node),
        config.get("incremental_strategy") or "append",
        query,
    )
    return _result(full_name(node), plan, policy)


def new_table_result(model: str) -> OperationResult:
    """Return the result for a model that has no table yet."""
    shown = {"what will run": "nothing: the table is new", "not stored exactly": ""}
    return OperationResult(model, shown, {"new_table": True})


def _result(model: str, plan: Plan, policy: Policy) -> OperationResult:
    is_reported = plan.lossy and policy.on_lossy_write is not OnLossyWrite.IGNORE
    lossy = report.lossy_text(plan, policy.on_lossy_write) if is_reported else ""
    return OperationResult(
        model,
        shown={
            "what will run": "; ".join(plan.statements) or "nothing",
            "not stored exactly": lossy,
        },
        values={
            "statements": plan.statements,
            "type_changes": [change.value for change in plan.changes],
            "new": [list(column.path) for column in plan.new],
            "dropped": [list(column.path) for column in plan.dropped],
            "not_stored_exactly": [list(leaf.path) for leaf in plan.lossy],
        },
    )
