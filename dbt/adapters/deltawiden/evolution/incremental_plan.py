"""The plan for an incremental model's table: what ``dbt run`` decides, and a check before it."""

import re
from collections.abc import Sequence
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.policy import Policy
from dbt.adapters.deltawiden.config.strategies import (
    DELETE_INSERT,
    REPLACE_WHERE,
    configured_predicates,
)
from dbt.adapters.deltawiden.config.validation import columns_named, names_listed
from dbt.adapters.deltawiden.evolution.evolution import TableEvolution, require_not_refused
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import refused_keys


def plan_incremental(
    evolution: TableEvolution,
    schemas: tuple[StructType, StructType],
    table: SparkRelation,
    policy: Policy,
    config: Any,
    model: str,
    strategy: str,
    query: str,
) -> Plan:
    """Decide what an existing table needs before an incremental model is written to it.

    Args:
        evolution: plans changes of tables.
        schemas: the schema of the model's output, and the table's.
        policy: the part of the configuration that decides on type changes.
        strategy: the incremental strategy.
        query: the model's query. Empty if it is not known: then it is not checked whether the model
            widens its own input.

    Returns:
        A plan that is not refused. Its statements have not run.

    Raises:
        SchemaChangeRefused: the plan is refused. All refusals are in the message.
        CompilationError: the model lacks a column of its unique key.
    """
    unique_key = config.get("unique_key")
    keys = columns_named(unique_key)
    if strategy == REPLACE_WHERE:
        keys = _columns_of_condition(config, schemas[1])
    plan = evolution.plan(schemas, table, policy, config, model, keys)
    if strategy in ("merge", DELETE_INSERT):
        plan = require_not_refused(plan.refusing(refused_keys(plan.write)))
        _check_unique_key(plan, unique_key)
    if query:
        evolution.refuse_self_reference(plan, table, query)
    return plan


def _columns_of_condition(config: Any, table: StructType) -> frozenset[str]:
    """Return the columns whose names are in the condition for the rows to replace."""
    text = " ".join(names_listed(configured_predicates(config))).lower().replace("``", "`")
    return frozenset(name.lower() for name in table.names if name.lower() in text)


def _check_unique_key(plan: Plan, configured: str | Sequence[str] | None) -> None:
    """Refuse a key that the model lacks: Delta's error is "Cannot find main error class"."""
    names = [column.name for column in plan.write.columns if column.in_source]
    folded = {name.lower() for name in names}
    for key in names_listed(configured):
        # Only Delta can read what is not a plain name: a path, an expression, a quoted name.
        if re.fullmatch(r"\w+", key) and key.lower() not in folded:
            raise CompilationError(
                f"unique_key: the model has no column {key}; it has {', '.join(names)}"
            )
