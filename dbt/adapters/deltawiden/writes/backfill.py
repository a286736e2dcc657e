"""Plan the values that the rows that exist get for the columns that a run adds."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.backfill import BACKFILL
from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.queries import in_lines
from dbt.adapters.deltawiden.sql.types import limited
from dbt.adapters.deltawiden.widening.backfill import (
    BACKFILL_PROPERTY,
    BackfillColumns,
    FillColumns,
    backfill_sql,
)
from dbt.adapters.deltawiden.widening.matched_rows import NotCompared, key_columns
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_no_change
from dbt.adapters.deltawiden.widening.schema_after import schema_at_write
from dbt.adapters.deltawiden.widening.schema_diff import compare
from dbt.adapters.deltawiden.widening.steps import SetProperties, Step, UnsetProperties
from dbt.adapters.deltawiden.writes.duplicate_keys import duplicate_keys
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused
from dbt.adapters.deltawiden.writing.value_check import ValueCheck

FullQuery = Callable[[], str]
"""Renders the model's query as in a full refresh, or raises NotCompared."""


def render_full_query(context: Any) -> str:
    """Render a model's query as in a full refresh: ``is_incremental()`` is false, in macros too.

    Args:
        context: dbt's context of the model's materialization, in which macros find each other.

    Raises:
        NotCompared: dbt does not render this query. The message is the reason.
    """
    model, flags = context["model"], context["flags"]
    if model["language"] != "sql":
        raise NotCompared("the full query of a Python model is not known")
    if getattr(flags, "EMPTY", False) or getattr(flags, "SAMPLE", None):
        raise NotCompared("under --empty and --sample, no query has all rows")
    own = context["is_incremental"]
    context["is_incremental"] = lambda: False
    try:
        query = str(context["render"](model["raw_code"]))
    finally:
        context["is_incremental"] = own
    ephemeral = [str(cte["sql"]) for cte in model.get("extra_ctes") or () if cte["sql"]]
    return f"with {', '.join(ephemeral)}\nselect * from ({in_lines(query)})" if ephemeral else query


@dataclass(frozen=True)
class Backfill:
    """Plans the values that the rows that exist get for new columns.

    Attributes:
        plan: the plan without them.
        check: the check of the values that the model writes.
    """

    plan: Plan
    snapshot: TableSnapshot
    spec: ModelSpec
    backend: SqlBackend
    check: ValueCheck | None

    def planned(self, full_query: FullQuery | None) -> Plan:
        """Return the plan with values for the new columns, and for those of a run that has failed.

        Args:
            full_query: None if the query is not known: then the plan can be shown, but not run.

        Returns:
            The plan. It is refused if the table can't take the values.

        Raises:
            SchemaChangeRefused: there is no full query, or its rows can't be found by the key.
        """
        plan = self.plan
        new = [field.path[0] for field in plan.new if len(field.path) == 1]
        names = dict.fromkeys(map(str.lower, [*_left(self.snapshot), *new]))
        if not names or plan.refusals:
            return plan
        written = [c.name for c in plan.write.columns if c.name.lower() in names and c.in_source]
        with_default = [name for name in written if name.lower() in self.spec.defaults]
        others = [name for name in written if name not in with_default]
        try:
            plan = self._with_defaults(plan, with_default, others)
            plan = self._with_query(plan, others, full_query)
        except NotCompared as error:
            text = f"{BACKFILL} of {plan.table}: {error}. Nothing was changed or written."
            raise SchemaChangeRefused(text) from error
        return plan.with_properties({BACKFILL_PROPERTY: json.dumps(list(names))})

    def _with_defaults(self, plan: Plan, names: Sequence[str], left: Sequence[str]) -> Plan:
        """Fill columns with the defaults of the contract, before the write adds nulls to them.

        Args:
            left: the columns that get other values, after the write.
        """
        if not names:
            return plan
        expressions = {name: self.spec.defaults[name.lower()] for name in names}
        selected = ", ".join(f"{text} as {quote(name)}" for name, text in expressions.items())
        values = self._values(self.backend.query_schema(f"select {selected}"), names)
        filled = {c.name: c.value_sql(f"({expressions[c.name]})") for c in values.write.columns}
        steps: tuple[Step, ...] = (FillColumns(plan.table, tuple(filled.items())),)
        if left:
            now = {BACKFILL_PROPERTY: json.dumps([name.lower() for name in left])}
            steps = (*steps, SetProperties(plan.table, tuple(now.items())))
        return replace(plan, before=(*plan.before, *steps)).refusing(values.refusals)

    def _with_query(self, plan: Plan, names: Sequence[str], full_query: FullQuery | None) -> Plan:
        """Give columns the values of the full query, after the write."""
        steps: tuple[Step, ...] = (UnsetProperties(plan.table, (BACKFILL_PROPERTY,)),)
        if names:
            step = BackfillColumns(plan.table, tuple(names), self.spec.unique_key)
            if full_query is not None:
                query = full_query()
                produced = _having(names, self.backend.query_schema(query))
                values = self._values(produced, names)
                plan = plan.refusing(values.refusals)
                merge = self._merge(query, produced, values)
                step = replace(step, merge=merge, schema=self._stored)
            steps = (step, *steps)
        return replace(plan, after=(*steps, *plan.after))

    @cached_property
    def _stored(self) -> StructType:
        """The table's schema at the write."""
        return schema_at_write(self.snapshot.schema, self.plan.changes, self.plan.new)

    def _values(self, produced: StructType, names: Collection[str]) -> Plan:
        """Plan a write of some columns alone. It says what the table's types can't store."""
        folded = [name.lower() for name in names]
        given, stored = limited(produced, folded), limited(self._stored, folded)
        return plan_no_change(
            compare(given, stored), given, stored, self.plan.table, check=self.check
        )

    def _merge(self, query: str, produced: StructType, values: Plan) -> str:
        names, table = self.spec.unique_key, self.plan.table
        if not names:
            raise NotCompared("the model has no unique_key, by which rows are found")
        keys = key_columns(names, produced, with_char_types(self._stored))
        twice = duplicate_keys(self.backend, f"({in_lines(query)})", table, names)
        if twice:
            raise NotCompared(
                f"keys have several rows in the model's full query: {'; '.join(twice)}"
            )
        unchanged = self.plan.types_unchanged_sql()
        return backfill_sql(query, table, keys, values.write.columns, unchanged)


def _left(snapshot: TableSnapshot) -> list[str]:
    """Return the columns that an earlier run has added, and that have no values yet."""
    names: list[str] = json.loads(snapshot.properties.get(BACKFILL_PROPERTY, "[]"))
    return names


def _having(names: Iterable[str], produced: StructType) -> StructType:
    missing = [name for name in names if name.lower() not in map(str.lower, produced.names)]
    if missing:
        lacks, has = ", ".join(missing), ", ".join(produced.names)
        raise NotCompared(f"the model's full query has no {lacks}; it has {has}")
    return produced
