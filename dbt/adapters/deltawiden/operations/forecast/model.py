"""What the next run of an incremental model will do to its table, without running it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbt.adapters.spark.relation import SparkRelation
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.policy import OnLossyWrite, Policy
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.operations.result import OperationResult
from dbt.adapters.deltawiden.operations.selection import Node, full_name
from dbt.adapters.deltawiden.sql.identifiers import path_text
from dbt.adapters.deltawiden.sql.types import type_text
from dbt.adapters.deltawiden.widening import report
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import schema_at_write
from dbt.adapters.deltawiden.widening.renames import renamed_schema
from dbt.adapters.deltawiden.widening.report import misread_text
from dbt.adapters.deltawiden.widening.schema_diff import SchemaChanges, schema_after
from dbt.adapters.deltawiden.writes.older_files import left_after_run

LOSSY = "not stored exactly"
"""The heading of the column that says which values the table may not store exactly."""


@dataclass(frozen=True)
class TableChange:
    """What the next run will change in an existing table. ``decide`` makes a plan for a schema."""

    table: SparkRelation
    decide: Callable[[StructType], Plan]


@dataclass(frozen=True)
class Planned:
    """What the next run will do to a table.

    Attributes:
        schema: the table's schema after the run; of a new table, the schema of the model's output.
        changes_types: whether a reader finds other columns or types than before.
        change: what to run for it before the write. None if there is no table yet.
        before: the table's schema before the run. None if there is no table, or it is not known.
    """

    result: OperationResult
    schema: StructType
    changes_types: bool = True
    change: TableChange | None = None
    before: StructType | None = None


def planned(backend: SqlBackend, node: Node, change: TableChange, spec: ModelSpec) -> Planned:
    """Return what the plan for a table will do to it."""
    table = change.table
    schema = backend.table_schema(table)
    plan = change.decide(schema)
    result = _result(full_name(node), plan, spec.policy)
    enables = plan.properties.get(TYPE_WIDENING_PROPERTY) == "true"
    gains = enables and not backend.snapshot(table, schema).widening_features
    if gains:
        result = replace(result, values={**result.values, "gains_feature": True})
    after = schema_at_write(renamed_schema(spec.renames, schema), plan.changes, plan.new)
    limit = spec.policy.rewrite_widened_files
    misread = left_after_run(backend, table, plan.changes, after, limit)
    if misread:
        text = misread_text(plan.table, misread)
        result = replace(result, values={**result.values, "filters": text})
    dropped = frozenset(column.path for column in plan.dropped)
    after = schema_after(SchemaChanges(dropped=dropped), after)
    changes_types = bool(plan.changes or plan.renamed or plan.new or plan.dropped)
    return Planned(result, after, changes_types, change, schema)


def new_table_planned(model: str, output: StructType) -> Planned:
    """Return what is planned for a model that has no table yet.

    Args:
        output: the schema of its output. Without columns if that is not known.
    """
    shown = {"what will run": "nothing: the table is new", LOSSY: ""}
    result = OperationResult(model, shown, {"new_table": True})
    return Planned(result, output, changes_types=bool(output.fields))


def made_again_planned(
    model: str, output: StructType | None = None, before: StructType | None = None
) -> Planned:
    """Return what is planned for a table or view that each run makes again.

    Args:
        output: the schema of its output. None if that is not known.
        before: its schema now. Nothing changes for its readers if both are the same.
    """
    shown = {"what will run": "nothing: each run makes it again", LOSSY: ""}
    output = output or StructType()
    changes_types = bool(output.fields and (not before or schema_differences(before, output)))
    result = OperationResult(model, shown, without_changes())
    return Planned(result, output, changes_types, before=before)


def schema_differences(before: StructType, after: StructType) -> tuple[str, ...]:
    """Return the differences of two schemas as texts: types, new columns, columns that are gone."""
    old, new = (
        {each.name.lower(): (path_text((each.name,)), type_text(each.dataType)) for each in fields}
        for fields in (before.fields, after.fields)
    )
    both = ((*new[key], old[key][1]) for key in new if key in old)
    changed = (f"{name}: {was} -> {now}" for name, now, was in both if was != now)
    added = (f"{name}: new" for key, (name, _) in new.items() if key not in old)
    gone = (f"{name}: dropped" for key, (name, _) in old.items() if key not in new)
    return (*changed, *added, *gone)


def with_take_over(found: Planned, table: SparkRelation, statements: Sequence[str]) -> Planned:
    """Add to a plan that the run first takes over a Delta table that the metastore lacks."""
    result = found.result
    every = [*statements, *result.values.get("statements", [])]
    values = {**result.values, "statements": every, "takes_over": table.identifier}
    shown = {**result.shown, "what will run": "; ".join(every)}
    return replace(found, result=replace(result, values=values, shown=shown), change=None)


def skipped_model(model: str, stops: Sequence[str]) -> OperationResult:
    """Return the result for a model that dbt skips because models that it reads stop."""
    shown = {"what will run": f"nothing: dbt skips it after {', '.join(stops)}"}
    values = {**without_changes(), "skipped": True}
    return OperationResult(model, {**shown, LOSSY: ""}, values)


def without_changes() -> dict[str, Any]:
    """Return the values of a table that a run does not change."""
    keys = ("statements", "type_changes", "new", "dropped", "not_stored_exactly")
    return {key: [] for key in keys}


def _result(model: str, plan: Plan, policy: Policy) -> OperationResult:
    is_reported = plan.lossy and policy.on_lossy_write is not OnLossyWrite.IGNORE
    lossy = report.lossy_text(plan, policy.on_lossy_write) if is_reported else ""
    warnings = report.warning_texts(plan, policy.on_lossy_write)
    return OperationResult(
        model,
        shown={"what will run": "; ".join(plan.statements) or "nothing", LOSSY: lossy},
        values={
            "statements": plan.statements,
            "type_changes": [change.value for change in plan.changes],
            **({"renamed": [step.value for step in plan.renamed]} if plan.renamed else {}),
            "new": [list(column.path) for column in plan.new],
            "dropped": [list(column.path) for column in plan.dropped],
            **({"backfilled": list(plan.backfilled)} if plan.backfilled else {}),
            "not_stored_exactly": [list(leaf.path) for leaf in plan.lossy],
            **({"warnings": warnings} if warnings else {}),
        },
    )
