"""Plan the values that the rows that exist get for the columns that a run adds."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.model_spec import ModelSpec
from dbt.adapters.deltawiden.config.policy import OnLossyWrite
from dbt.adapters.deltawiden.config.strategies import BACKFILL
from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.sql.describe_parser import with_char_types
from dbt.adapters.deltawiden.sql.identifiers import Path, quote
from dbt.adapters.deltawiden.sql.types import limited, type_text
from dbt.adapters.deltawiden.widening.backfill import (
    BackfillColumns,
    FillColumns,
    StillWaiting,
    backfill_property,
    backfill_sql,
    has_new_rows,
    repeated_keys_sql,
    waiting_columns,
)
from dbt.adapters.deltawiden.widening.matched_rows import (
    NotCompared,
    key_columns,
    require_rows_that_change,
)
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.planner import plan_write_alone
from dbt.adapters.deltawiden.widening.schema_diff import compare, schema_at_write
from dbt.adapters.deltawiden.widening.steps import Stage, Step
from dbt.adapters.deltawiden.writes.attempts import is_cancelled, is_worth_replanning
from dbt.adapters.deltawiden.writes.duplicate_keys import repeated_key_text
from dbt.adapters.deltawiden.writes.model_query import FullQuery
from dbt.adapters.deltawiden.writes.refused import SchemaChangeRefused
from dbt.adapters.deltawiden.writing.columns import WrittenColumn, assigned_sql
from dbt.adapters.deltawiden.writing.projection import in_type_sql
from dbt.adapters.deltawiden.writing.value_check import ValueCheck


@dataclass(frozen=True)
class Backfill:
    """Plans the values that existing rows get for new columns, in addition to the ``bare`` plan."""

    bare: Plan
    snapshot: TableSnapshot
    spec: ModelSpec
    backend: SqlBackend
    check: ValueCheck | None

    def planned(self, full_query: FullQuery | None) -> Plan:
        """Return the plan with values for the new columns, and for those of a run that has failed.

        Args:
            full_query: None if the query is not known: then the plan can be shown, but not run.

        Raises:
            SchemaChangeRefused: the values can't be found or stored.
        """
        pending = self._pending()
        new = [field.path[0].lower() for field in self.bare.new if len(field.path) == 1]
        waiting = list(dict.fromkeys([*pending, *new]))
        if not waiting or self.bare.refusals:
            return self.bare
        shown = {c.name.lower(): c.name for c in self.bare.write.columns if c.in_source}
        may_default = [shown[n] for n in shown if n in waiting and n in self.spec.defaults]
        late = self._late(may_default, set(pending).difference(new))
        # No longer waiting: setting the property again would hide when they were added.
        waiting = [name for name in waiting if shown.get(name) not in late]
        columns = [shown[name] for name in shown if name in waiting]
        defaults = [name for name in may_default if name not in late]
        others = [name for name in columns if name not in defaults]
        # The table keeps a column that this model lacks, and another release may have it again.
        stored = set(map(str.lower, self._stored.names))
        left = tuple(name for name in waiting if name not in shown and name in stored)
        value = backfill_property(waiting)
        # A run that has died before it added a column has set the property too early for it.
        is_set = value.items() <= self.snapshot.properties.items() and not {*new} & {*pending}
        if is_set and left == tuple(waiting):
            return self.bare
        try:
            if columns:
                require_rows_that_change(self.snapshot)
            rest = (*left, *map(str.lower, others))
            filled = self._with_defaults(defaults, rest) if defaults else ()
            merged = self._with_query(others, full_query, left) if others else ()
        except NotCompared as error:
            raise SchemaChangeRefused(
                f"{BACKFILL}: existing rows of {self.bare.table} can't get values for "
                f"{', '.join(columns)}: {error}. Nothing was changed or written. Correct it, or "
                f"set {BACKFILL}: false to leave them null."
            ) from error
        last = () if filled or merged else (StillWaiting(self.bare.table, left),)
        plan = self.bare.adding(*filled, *merged, *last)
        return plan.with_properties(value) if waiting and not is_set else plan

    def _pending(self) -> list[str]:
        """Return the columns, in lower case, that an earlier run has added and given no values."""
        names = waiting_columns(self.snapshot)
        there = set(map(str.lower, self.snapshot.schema.names))
        renamed = {old.lower(): path[0] for path, old in self.spec.renames.items() if not path[1:]}
        return [name if name in there else renamed.get(name, name).lower() for name in names]

    def _late(self, defaults: Sequence[str], pending: Collection[str]) -> list[str]:
        """Return the columns with defaults in which a null can be a value of the model by now."""
        late = [name for name in defaults if name.lower() in pending]
        if not late or not has_new_rows(self.bare.table, self.backend.fetch_rows):
            return []
        logger.warning(
            f"{self.bare.table}: rows were written since {', '.join(late)} were added, so a null "
            "in them can be a value of the model. The default of the contract was not given to "
            "any row."
        )
        return late

    def _with_defaults(self, names: Sequence[str], left: tuple[str, ...]) -> tuple[Step, ...]:
        """Return the steps that set columns to defaults, before the write adds nulls to them.

        The columns that are left, in lower case, still wait for values then.
        """
        texts = {name: self.spec.defaults[name.lower()] for name in names}
        selected = ", ".join(f"({text}\n) as {quote(name)}" for name, text in texts.items())
        produced = self.backend.query_schema(f"select {selected}")
        values = self._values(produced, names)
        refused = [each.path for each in values.refusals]
        _require_stored(refused, produced, self._stored, "the default")
        filled = tuple((c.name, self._assigned(c, texts[c.name])) for c in values.write.columns)
        # So a later run does not take the nulls of this write for those of older rows.
        table = self.bare.table
        fill = FillColumns(table, filled, tuple(self.snapshot.comparable_expressions))
        return fill, StillWaiting(table, left, Stage.DEFAULTS)

    def _with_query(
        self, names: Sequence[str], full_query: FullQuery | None, left: tuple[str, ...]
    ) -> tuple[Step, ...]:
        """Return the steps that give columns the values of the full query, after the write."""
        keys = self.spec.unique_key
        if not keys:
            raise NotCompared("the model has no unique_key, by which rows are found")
        step = BackfillColumns(self.bare.table, tuple(names), keys)
        if full_query is not None:
            step = replace(step, merge=self._merge(full_query(), names), schema=self._stored)
        return step, StillWaiting(self.bare.table, left)

    def _merge(self, query: str, names: Sequence[str]) -> str:
        produced, keys = self.backend.query_schema(query), self.spec.unique_key
        _require_columns(names, produced)
        before = with_char_types(self.snapshot.schema)
        by_key = key_columns(keys, produced, before)
        values = self._values(produced, names)
        # The write is committed before these values are, so no value may stop them.
        is_exact = self.spec.policy.on_lossy_write is not OnLossyWrite.IGNORE
        wrong = [refusal.path for refusal in values.refusals]
        wrong += [leaf.path for leaf in values.lossy if is_exact]
        _require_stored(wrong, produced, self._stored, "the model's full query")
        try:
            written = values.write.columns
            repeated = self.backend.fetch_rows(repeated_keys_sql(query, by_key, written))
        except DbtDatabaseError as error:
            if is_worth_replanning(error) or is_cancelled(error):
                raise
            raise NotCompared(f"the model's full query fails: {error.msg}") from error
        if repeated:
            shown = "; ".join(repeated_key_text(keys, row) for row in repeated)
            raise NotCompared(f"keys have several rows in the model's full query: {shown}")
        unchanged = self.bare.types_unchanged_sql()
        generated = self.snapshot.comparable_expressions
        return backfill_sql(query, self.bare.table, by_key, written, unchanged, generated)

    def _assigned(self, column: WrittenColumn, text: str) -> str:
        assert column.source is not None
        given = column.source.dataType
        if self.check is not None:
            text = assigned_sql(text, (column.name,), given, column.type, self.check)
        return in_type_sql(text, given, column.type)

    @cached_property
    def _stored(self) -> StructType:
        """The table's schema at the write."""
        return schema_at_write(self.snapshot.schema, self.bare.changes, self.bare.new)

    def _values(self, produced: StructType, names: Collection[str]) -> Plan:
        """Plan a write of some columns alone. It says what the table's types can't store."""
        folded = [name.lower() for name in names]
        given, stored = limited(produced, folded), limited(self._stored, folded)
        return plan_write_alone(
            compare(given, stored), given, stored, self.bare.table, check=self.check
        )


def _require_columns(names: Iterable[str], produced: StructType) -> None:
    missing = [name for name in names if name.lower() not in map(str.lower, produced.names)]
    if missing:
        lacks, has = ", ".join(missing), ", ".join(produced.names)
        raise NotCompared(f"the model's full query has no {lacks}; it has {has}")


def _require_stored(
    wrong: Iterable[Path], produced: StructType, stored: StructType, source: str
) -> None:
    names = {path[0].lower() for path in wrong}
    types = {field.name.lower(): type_text(field.dataType) for field in produced}
    found = [
        f"{field.name} is {types[field.name.lower()]} in {source}, and {type_text(field.dataType)} "
        "in the table"
        for field in stored
        if field.name.lower() in names
    ]
    if found:
        raise NotCompared("; ".join(found))
