"""A plan: the steps before and after a write to a table, or the reasons to refuse the write."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql.types import StructField

from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.backfill import BackfillColumns
from dbt.adapters.deltawiden.widening.refusals import Refusal
from dbt.adapters.deltawiden.widening.schema_diff import (
    FieldDifference,
    TypeDifference,
)
from dbt.adapters.deltawiden.widening.steps import (
    AddColumns,
    DropColumns,
    RenameColumn,
    RewriteRows,
    SetProperties,
    Step,
    type_changes,
)
from dbt.adapters.deltawiden.writing.columns import Write
from dbt.adapters.deltawiden.writing.planned_types import types_unchanged_sql


@dataclass(frozen=True)
class Plan:
    """The steps before and after a write to a table, or the reasons to refuse the write.

    Attributes:
        table: the table's name, quoted for a statement.
        before: the steps that prepare the table for the write, in the order in which they run.
        write: the values to write to each column.
        after: the steps after the write has succeeded.
        refusals: the reasons to refuse the plan. If there is one, no step of the plan runs.
        lossy: under ``on_schema_change: ignore``, the leaves that do not store every value exactly.
        ignored_columns: under ``on_schema_change: ignore``, the columns of the model that are not
            written.
    """

    table: str
    before: tuple[Step, ...] = ()
    write: Write = field(default_factory=Write)
    after: tuple[Step, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    lossy: tuple[TypeDifference, ...] = ()
    ignored_columns: tuple[FieldDifference, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in the order in which they run. Empty if the plan is refused."""
        return () if self.refusals else (*self.before, *self.after)

    @property
    def statements(self) -> list[str]:
        """The statements of the steps, for people."""
        return [step.statement for step in self.steps]

    @property
    def properties(self) -> Mapping[str, str]:
        """The table properties that the first step sets."""
        first = self.before[0] if self.before else None
        return dict(first.properties) if type(first) is SetProperties else {}

    @property
    def changes(self) -> tuple[TypeChange, ...]:
        """The type changes."""
        return type_changes(self.before)

    @property
    def renamed(self) -> tuple[RenameColumn, ...]:
        """The renames."""
        return tuple(step for step in self.before if isinstance(step, RenameColumn))

    @property
    def new(self) -> tuple[FieldDifference, ...]:
        """The columns and nested fields to add."""
        return tuple(
            field for step in self.before if isinstance(step, AddColumns) for field in step.fields
        )

    @property
    def dropped(self) -> tuple[FieldDifference, ...]:
        """The columns and nested fields to drop."""
        return tuple(
            field for step in self.after if isinstance(step, DropColumns) for field in step.fields
        )

    @property
    def backfilled(self) -> tuple[str, ...]:
        """The columns for which the rows that exist get the model's values."""
        steps = (step for step in self.after if isinstance(step, BackfillColumns))
        return tuple(name for step in steps for name in step.names)

    @property
    def rewrites_rows(self) -> bool:
        """Whether a step rewrites every row."""
        return any(isinstance(step, RewriteRows) for step in self.before)

    def types_unchanged_sql(self, by_position: bool = False) -> str:
        """Render a condition that stops the write if the table no longer has this plan's types.

        Args:
            by_position: as for ``planned_types.types_unchanged_sql``.
        """
        columns = [StructField(column.name, column.type) for column in self.write.columns]
        return types_unchanged_sql(self.table, columns, by_position)

    def with_properties(self, properties: Mapping[str, str]) -> "Plan":
        """Return a plan that also sets these properties, before all other steps."""
        if not properties:
            return self
        others = self.before[1:] if self.properties else self.before
        first = SetProperties(self.table, tuple({**properties, **self.properties}.items()))
        return replace(self, before=(first, *others))

    def refusing(self, refusals: Iterable[Refusal]) -> "Plan":
        """Return a plan with additional refusals."""
        return replace(self, refusals=(*self.refusals, *refusals))
