"""The plan for an incremental model's table: what ``dbt run`` decides, and a check before it."""

import re
from collections.abc import Iterable

from dbt.adapters.spark.relation import SparkRelation
from dbt_common.exceptions import CompilationError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.strategies import DELETE_INSERT, MERGE, REPLACE_WHERE
from dbt.adapters.deltawiden.config.validation import columns_named
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import refused_keys
from dbt.adapters.deltawiden.widening.renames import renamed_schema
from dbt.adapters.deltawiden.writes.evolution import TableEvolution
from dbt.adapters.deltawiden.writes.model_query import FullQuery
from dbt.adapters.deltawiden.writes.refused import require_not_refused


def plan_incremental(
    evolution: TableEvolution,
    schemas: tuple[StructType, StructType],
    table: SparkRelation,
    spec: ModelSpec,
    query: str,
    full_query: FullQuery | None = None,
) -> Plan:
    """Decide what a table needs before an incremental model is written: ``TableEvolution.plan``.

    Args:
        query: the model's query. Empty if it is not known: then it is not checked whether the model
            widens its own input.

    Raises:
        SchemaChangeRefused: the plan is refused. All refusals are in the message.
        CompilationError: the model lacks a column of its unique key.
    """
    keys = columns_named(spec.unique_key)
    if spec.strategy == REPLACE_WHERE:
        keys = _columns_of_condition(spec.predicates, renamed_schema(spec.renames, schemas[1]))
    plan = evolution.plan(schemas, table, spec, keys, full_query)
    if spec.strategy in (MERGE, DELETE_INSERT):
        plan = require_not_refused(plan.refusing(refused_keys(plan.write)))
        _check_unique_key(plan, spec.unique_key)
    if query:
        evolution.refuse_self_reference(plan, table, query)
    return plan


def _columns_of_condition(predicates: Iterable[str], table: StructType) -> frozenset[str]:
    """Return the columns whose names are in the condition for the rows to replace."""
    text = " ".join(predicates).lower().replace("``", "`")
    return frozenset(name.lower() for name in table.names if name.lower() in text)


def _check_unique_key(plan: Plan, unique_key: Iterable[str]) -> None:
    """Refuse a key that the model lacks: Delta's error is "Cannot find main error class"."""
    names = [column.name for column in plan.write.columns if column.in_source]
    folded = {name.lower() for name in names}
    for key in unique_key:
        # Only Delta can read what is not a plain name: a path, an expression, a quoted name.
        if re.fullmatch(r"\w+", key) and key.lower() not in folded:
            raise CompilationError(
                f"unique_key: the model has no column {key}; it has {', '.join(names)}"
            )
