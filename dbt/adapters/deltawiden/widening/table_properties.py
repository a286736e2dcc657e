"""Refuse what the properties of a table would refuse after the first statements of a plan."""

from collections.abc import Iterator

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.strategies import BACKFILL
from dbt.adapters.deltawiden.delta.protocol import APPEND_ONLY
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import read_name
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Reason, Refusal


def refused_properties(plan: Plan, spec: ModelSpec, snapshot: TableSnapshot) -> Iterator[Refusal]:
    """Refuse what a property of the table would refuse after the statements before it.

    The properties are asked for only if the plan has read them.

    Source:
        DELTA_CANNOT_MODIFY_APPEND_ONLY
    """
    if (spec.tblproperties or plan.steps) and snapshot.has(APPEND_ONLY):
        if spec.changes_rows:
            what = f"incremental_strategy: {spec.strategy}" if spec.strategy else "a snapshot"
            yield Refusal(Reason.APPEND_ONLY, read_name(APPEND_ONLY), detail=what)
        elif plan.copies_rows:
            yield Refusal(Reason.APPEND_ONLY, read_name(APPEND_ONLY), detail=BACKFILL)
