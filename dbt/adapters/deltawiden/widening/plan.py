"""A plan: the steps before and after a write to a table, or the reasons to refuse the write."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter

from pyspark.sql.types import StructField, StructType, UserDefinedType

from dbt.adapters.deltawiden.config.merge_clauses import MergeClauses
from dbt.adapters.deltawiden.delta.protocol import COLUMN_MAPPING
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql.identifiers import quote
from dbt.adapters.deltawiden.sql.literals import literal
from dbt.adapters.deltawiden.sql.raised_errors import END_OF_MESSAGE, TABLE_TYPES_CHANGED
from dbt.adapters.deltawiden.sql.types import UnreadableType, contains, type_sql
from dbt.adapters.deltawiden.widening.backfill import BackfillColumns
from dbt.adapters.deltawiden.widening.refusals import Refusal
from dbt.adapters.deltawiden.widening.schema_diff import FieldDifference, TypeDifference
from dbt.adapters.deltawiden.widening.steps import (
    AddColumns,
    DropColumns,
    RenameColumn,
    SetProperties,
    Stage,
    Step,
    type_changes,
)
from dbt.adapters.deltawiden.writing.columns import Write


@dataclass(frozen=True)
class Plan:
    """The steps before and after a write to a table, or the reasons to refuse the write.

    Attributes:
        table: the table's name, quoted for a statement.
        steps: the changes of the table, in any order. They run in the order of their stages.
        refusals: the reasons to refuse the plan. If there is one, no step of the plan runs.
        lossy: under ``on_schema_change: ignore``, the leaves that do not store every value exactly.
        ignored_columns: under ``on_schema_change: ignore``, the columns of the model that are not
            written.
        unchecked: the columns that ``on_lossy_write: error`` would check, under ``warn``.
        warnings: what to warn of before the first step, besides what the plan itself shows.
        checked_clauses: the clauses of a MERGE, with checked values. None if steps come before the
            write: they can change what the values are checked against. Then the write checks them.
    """

    table: str
    steps: tuple[Step, ...] = ()
    write: Write = field(default_factory=Write)
    refusals: tuple[Refusal, ...] = ()
    lossy: tuple[TypeDifference, ...] = ()
    ignored_columns: tuple[FieldDifference, ...] = ()
    unchecked: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    checked_clauses: MergeClauses | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(sorted(self.steps, key=attrgetter("stage"))))

    @property
    def before(self) -> tuple[Step, ...]:
        """The steps that prepare the table for the write, in the order in which they run."""
        return tuple(step for step in self.steps if step.stage < Stage.WRITE)

    @property
    def copies_rows(self) -> bool:
        """Whether a step writes rows that exist again."""
        return any(step.copies_rows for step in self.steps)

    @property
    def after(self) -> tuple[Step, ...]:
        """The steps after the write has succeeded, in the order in which they run."""
        return tuple(step for step in self.steps if step.stage > Stage.WRITE)

    @property
    def statements(self) -> list[str]:
        """The statements of the steps, for people. Empty if the plan is refused."""
        return [] if self.refusals else [step.statement for step in self.steps]

    @property
    def properties(self) -> Mapping[str, str]:
        """The table properties that the plan sets before all else, and that stay."""
        setting = (step for step in self.steps if type(step) is SetProperties)
        return {name: value for step in setting for name, value in step.properties}

    @property
    def changes(self) -> tuple[TypeChange, ...]:
        """The type changes."""
        return type_changes(self.steps)

    @property
    def renamed(self) -> tuple[RenameColumn, ...]:
        """The renames."""
        return tuple(step for step in self.steps if isinstance(step, RenameColumn))

    @property
    def new(self) -> tuple[FieldDifference, ...]:
        """The columns and nested fields to add."""
        return tuple(
            field for step in self.steps if isinstance(step, AddColumns) for field in step.fields
        )

    @property
    def dropped(self) -> tuple[FieldDifference, ...]:
        """The columns and nested fields to drop."""
        return tuple(
            field for step in self.steps if isinstance(step, DropColumns) for field in step.fields
        )

    @property
    def backfilled(self) -> tuple[str, ...]:
        """The columns for which the rows that exist get the model's values."""
        steps = (step for step in self.steps if isinstance(step, BackfillColumns))
        return tuple(name for step in steps for name in step.names)

    def types_unchanged_sql(self, by_position: bool = False) -> str:
        """Render a condition that is true, or stops the write if the table has other types now.

        Another writer can replace the table between the plan and the write. If a type is narrower
        then, the engine casts the values to it, and Delta raises no error. Spark evaluates the
        condition when it plans the statement, and reads no row of the table for it. It analyses the
        table once for the whole statement, so the condition is about the types to which the values
        are written.

        Args:
            by_position: whether the statement writes the columns by position. Then the table must
                have these columns in this order, and no other.

        Source:
            https://spark.apache.org/docs/latest/api/sql/ (typeof, assert_true)
        """
        columns = [StructField(column.name, column.type) for column in self.write.columns]
        # Spark can't parse these types.
        unknown = (UnreadableType, UserDefinedType)
        known = [column for column in columns if not contains(column.dataType, unknown)]
        if not known:
            return "true"
        names = ", ".join(quote(column.name) for column in known)
        if by_position and len(known) == len(columns):
            names = "*"
        found = f"typeof((select struct({names}) from {self.table} limit 0))"
        planned = f"typeof(cast(null as {type_sql(StructType(known))}))"
        message = (
            f"[{TABLE_TYPES_CHANGED}] Another writer has changed the columns of {self.table} "
            f"during this run. {END_OF_MESSAGE}"
        )
        return f"assert_true({found} = {planned}, {literal(message)}) is null"

    def with_properties(self, properties: Mapping[str, str]) -> "Plan":
        """Return a plan that also sets these properties, in the same statement as its own."""
        if not properties:
            return self
        setting = SetProperties(self.table, tuple({**properties, **self.properties}.items()))
        others = (step for step in self.steps if type(step) is not SetProperties)
        return replace(self, steps=(setting, *others))

    def only_renames(self) -> "Plan":
        """Return the plan with its renames alone, and the property that they need."""
        steps = (step for step in self.steps if step.stage is Stage.RENAMES)
        mapping = {k: v for k, v in self.properties.items() if k == COLUMN_MAPPING}
        return replace(self, steps=tuple(steps)).with_properties(mapping)

    def without_drops(self) -> "Plan":
        """Return the plan without the drops, which the next run plans again."""
        return replace(self, steps=tuple(s for s in self.steps if s.stage is not Stage.DROPS))

    def adding(self, *steps: Step) -> "Plan":
        """Return a plan with additional steps."""
        return replace(self, steps=(*self.steps, *steps))

    def refusing(self, refusals: Iterable[Refusal]) -> "Plan":
        """Return a plan with additional refusals."""
        return replace(self, refusals=(*self.refusals, *refusals))
