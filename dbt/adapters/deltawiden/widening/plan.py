"""A plan: the changes of a table before and after a write, or the reasons to refuse the write."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql.types import StructField

from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql import statements as sql
from dbt.adapters.deltawiden.sql.identifiers import Path, folded
from dbt.adapters.deltawiden.widening.refusals import Refusal
from dbt.adapters.deltawiden.widening.schema_diff import (
    FieldDifference,
    TypeDifference,
)
from dbt.adapters.deltawiden.writing.columns import Write
from dbt.adapters.deltawiden.writing.planned_types import types_unchanged_sql


@dataclass(frozen=True)
class Plan:
    """The changes of a table before and after a write, or the reasons to refuse the write.

    Attributes:
        table: the table's name, quoted for a statement.
        in_one_statement: whether one statement can change the types of several columns.
        changes: the type changes, in one commit if the engine supports that.
        float_changes: those of the changes, from float to double, that also need corrected
            statistics of the table's files. They are made in a commit of their own.
        before_changes: the statements that make the statistics right where they can't be corrected.
        after_changes: the statements that restore the settings changed by ``before_changes``.
        applied_by_earlier_attempts: the type changes that an earlier attempt at the same write has
            made.
        new: the columns and nested fields to add.
        dropped: the columns and nested fields to drop after the write has succeeded.
        clustering: the columns to cluster the table by before the write. None if the clustering
            stays as it is.
        clustering_after_write: the columns to cluster the table by again, because the write removes
            its clustering.
        properties: the table properties to set first: new properties of the model, the type
            widening property if it is requested, and the table features that a new type needs.
        write: the values to write to each column afterwards.
        refusals: the reasons to refuse the plan. If there is one, no step of the plan runs.
        lossy: under ``on_schema_change: ignore``, the leaves that do not store every value exactly.
        ignored_columns: under ``on_schema_change: ignore``, the columns of the model that are not
            written.
    """

    table: str
    in_one_statement: bool = True
    changes: tuple[TypeChange, ...] = ()
    float_changes: tuple[TypeChange, ...] = ()
    before_changes: tuple[str, ...] = ()
    after_changes: tuple[str, ...] = ()
    applied_by_earlier_attempts: tuple[TypeChange, ...] = ()
    new: tuple[FieldDifference, ...] = ()
    dropped: tuple[FieldDifference, ...] = ()
    clustering: tuple[Path, ...] | None = None
    clustering_after_write: tuple[Path, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    write: Write = field(default_factory=Write)
    refusals: tuple[Refusal, ...] = ()
    lossy: tuple[TypeDifference, ...] = ()
    ignored_columns: tuple[FieldDifference, ...] = ()

    @property
    def statements(self) -> list[str]:
        """All statements, in the order in which they must run. Empty if the plan is refused."""
        return [*self.statements_before_write, *self.statements_after_write]

    @property
    def statements_before_write(self) -> list[str]:
        """The statements that prepare the table for the write."""
        return [] if self.refusals else list(_statements_before_write(self))

    @property
    def statements_after_write(self) -> list[str]:
        """The statements that restore the clustering, and drop what the model lacks."""
        return [] if self.refusals else list(_statements_after_write(self))

    @property
    def float_statement(self) -> str:
        """The statement for ``float_changes``. To run only this statement is not enough."""
        if not self.float_changes:
            return ""
        return f"{_alter(self, self.float_changes)} {sql.WITH_STATISTICS}"

    def types_unchanged_sql(self, by_position: bool = False) -> str:
        """Render a condition that stops the write if the table no longer has this plan's types.

        Args:
            by_position: as for ``planned_types.types_unchanged_sql``.
        """
        columns = [StructField(column.name, column.type) for column in self.write.columns]
        return types_unchanged_sql(self.table, columns, by_position)

    def with_properties(self, properties: Mapping[str, str]) -> "Plan":
        """Return a plan that also sets these properties, before all other steps."""
        return replace(self, properties=tuple({**properties, **dict(self.properties)}.items()))

    def refusing(self, refusals: Iterable[Refusal]) -> "Plan":
        """Return a plan with additional refusals."""
        return replace(self, refusals=(*self.refusals, *refusals))

    def undo(self, done: Iterable[str]) -> list[str]:
        """Return the statements that unset a property that was set for type changes that failed.

        Args:
            done: the statements that have run.

        Returns:
            The statements. Empty if a type change was made, or if no property was set.
        """
        ran = set(done)
        if (
            not ran
            or ran & set(_alter_types(self))
            or TYPE_WIDENING_PROPERTY not in dict(self.properties)
        ):
            return []
        return [sql.unset_properties(self.table, [TYPE_WIDENING_PROPERTY])]

    def left_after(self, done: Iterable[str]) -> "Plan":
        """Return the rest of the plan after some of its statements before the write have run.

        Args:
            done: the statements that have run. The statements of ``undo`` for them have also run.

        Returns:
            The plan, without the steps that are done.
        """
        ran = set(done)
        made = {
            change
            for statement, changes in _type_statements(self)
            if statement in ran
            for change in changes
        }
        are_set = _properties_statement(self) in ran and not self.undo(ran)
        return replace(
            self,
            properties=() if are_set else self.properties,
            changes=tuple(change for change in self.changes if change not in made),
            float_changes=tuple(change for change in self.float_changes if change not in made),
            new=() if _add_statement(self) in ran else self.new,
            clustering=None if ran & set(_cluster_statements(self)) else self.clustering,
        )

    def has_steps_of(self, other: "Plan") -> bool:
        """Return whether two plans make the same changes and the same write."""
        steps = (
            *("properties", "changes", "float_changes", "new", "dropped", "write"),
            *("clustering", "clustering_after_write"),
        )
        return all(getattr(self, step) == getattr(other, step) for step in steps)

    def undo_before_changes(self, done: Iterable[str]) -> list[str]:
        """Return the statements that restore the settings changed by ``before_changes``.

        Args:
            done: the statements that have run.

        Returns:
            The statements that have not run yet. Empty if no statement of ``before_changes`` ran.
        """
        ran = set(done)
        if not ran & set(self.before_changes):
            return []
        return [statement for statement in self.after_changes if statement not in ran]


def _statements_before_write(plan: Plan) -> Iterator[str]:
    if plan.properties:
        yield _properties_statement(plan)
    # Before the other changes, if possible: the engine alone knows which types it can cluster by.
    if not _clusters_by_new(plan):
        yield from _cluster_statements(plan)
    yield from plan.before_changes
    yield from _alter_types(plan)
    yield from plan.after_changes
    if plan.new:
        yield _add_statement(plan)
    if _clusters_by_new(plan):
        yield from _cluster_statements(plan)


def _statements_after_write(plan: Plan) -> Iterator[str]:
    if plan.clustering_after_write:
        yield sql.cluster_by(plan.table, plan.clustering_after_write)
    if plan.dropped:
        yield sql.drop_columns(plan.table, (field.path for field in plan.dropped))


def _clusters_by_new(plan: Plan) -> bool:
    return any(
        folded(column[: len(new.path)]) == folded(new.path)
        for column in plan.clustering or ()
        for new in plan.new
    )


def _cluster_statements(plan: Plan) -> list[str]:
    return [] if plan.clustering is None else [sql.cluster_by(plan.table, plan.clustering)]


def _properties_statement(plan: Plan) -> str:
    return sql.set_properties(plan.table, dict(plan.properties))


def _add_statement(plan: Plan) -> str:
    return sql.add_columns(plan.table, ((new.path, new.field.dataType) for new in plan.new))


def _alter_types(plan: Plan) -> list[str]:
    return [statement for statement, _ in _type_statements(plan)]


def _type_statements(plan: Plan) -> Iterator[tuple[str, tuple[TypeChange, ...]]]:
    """Yield each statement that changes types, with the changes that it makes."""
    plain = tuple(change for change in plan.changes if change not in plan.float_changes)
    if plain and plan.in_one_statement:
        yield _alter(plan, plain), plain
    else:
        yield from ((_alter(plan, [change]), (change,)) for change in plain)
    if plan.float_changes:
        yield plan.float_statement, plan.float_changes


def _alter(plan: Plan, changes: Iterable[TypeChange]) -> str:
    return sql.alter_types(plan.table, ((change.path, change.to_type) for change in changes))
