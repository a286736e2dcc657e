"""A plan: what has to be done to a table before and after a write, or why it is refused."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from dbt.adapters.deltawiden.delta.protocol import ENABLED
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.sql import statements as sql
from dbt.adapters.deltawiden.widening.refusals import Refusal
from dbt.adapters.deltawiden.widening.schema_diff import (
    FieldDifference,
    TypeDifference,
)
from dbt.adapters.deltawiden.writing.columns import Write


@dataclass(frozen=True)
class Plan:
    """What is to be done to a table before a write, or why the write must not be.

    Attributes:
        table: the table's name, quoted for a statement.
        in_one_statement: whether one statement can change the types of several columns.
        changes: the type changes, one commit where the engine can.
        with_statistics: those of the changes that are made by correcting the statistics of the
            table's files, in a commit of their own.
        before_changes: statements that make the statistics fit, where they can't be corrected.
        after_changes: statements that take back what ``before_changes`` has set.
        applied_by_earlier_attempts: the type changes that an earlier attempt
            at the same write has made.
        new: the columns and nested fields to add.
        dropped: the columns and nested fields to drop, once the write has succeeded.
        properties: the table properties to set first: those that the model has gained, the
            widening property where it was asked for, and the support of table features that a new
            type needs.
        write: what is written to which column afterwards.
        refusals: why the plan can't be carried out. If there is one, nothing is.
        lossy: under ``on_schema_change: ignore``, the leaves whose types do not store every value.
        left_out: under ``on_schema_change: ignore``, the columns of the model that are not written.
    """

    table: str
    in_one_statement: bool = True
    changes: tuple[TypeChange, ...] = ()
    with_statistics: tuple[TypeChange, ...] = ()
    before_changes: tuple[str, ...] = ()
    after_changes: tuple[str, ...] = ()
    applied_by_earlier_attempts: tuple[TypeChange, ...] = ()
    new: tuple[FieldDifference, ...] = ()
    dropped: tuple[FieldDifference, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    write: Write = field(default_factory=Write)
    refusals: tuple[Refusal, ...] = ()
    lossy: tuple[TypeDifference, ...] = ()
    left_out: tuple[FieldDifference, ...] = ()

    @property
    def statements(self) -> list[str]:
        """All statements, in the order in which they must run; none if the plan is refused."""
        return [*self.statements_before_write, *self.statements_after_write]

    @property
    def statements_before_write(self) -> list[str]:
        """The statements that make the table fit for the write."""
        return [] if self.refusals else list(_statements_before_write(self))

    @property
    def statements_after_write(self) -> list[str]:
        """The statements that take away what the write has not filled."""
        if self.refusals or not self.dropped:
            return []
        return [sql.drop_columns(self.table, (field.path for field in self.dropped))]

    @property
    def statement_with_statistics(self) -> str:
        """The statement for ``with_statistics``; it is not enough to run it by itself."""
        if not self.with_statistics:
            return ""
        return f"{_alter(self, self.with_statistics)} {sql.WITH_STATISTICS}"

    def with_properties(self, properties: Mapping[str, str]) -> "Plan":
        """Give the plan that also sets properties, before all else."""
        return replace(self, properties=tuple({**properties, **dict(self.properties)}.items()))

    def refusing(self, refusals: Iterable[Refusal]) -> "Plan":
        """Give the plan that is refused for more reasons."""
        return replace(self, refusals=(*self.refusals, *refusals))

    def undo(self, done: Iterable[str]) -> list[str]:
        """Give the statements that take back a property turned on for type changes that failed.

        Args:
            done: the statements that have run.

        Returns:
            Statements, none where the type changes were made or no property was set.
        """
        ran = set(done)
        if not ran or ran & set(_alter_types(self)) or ENABLED not in dict(self.properties):
            return []
        return [sql.unset_properties(self.table, [ENABLED])]

    def left_after(self, done: Iterable[str]) -> "Plan":
        """Give the plan that is left where some of its statements before the write have run.

        Args:
            done: the statements that have run. What ``undo`` gives for them has run as well.

        Returns:
            The plan, without the steps that are done.
        """
        ran = set(done)
        made = {
            change for each, changes in _type_statements(self) if each in ran for change in changes
        }
        are_set = _properties_statement(self) in ran and not self.undo(ran)
        return replace(
            self,
            properties=() if are_set else self.properties,
            changes=tuple(each for each in self.changes if each not in made),
            with_statistics=tuple(each for each in self.with_statistics if each not in made),
            new=() if _add_statement(self) in ran else self.new,
        )

    def has_steps_of(self, other: "Plan") -> bool:
        """Tell whether two plans change and write the same."""
        steps = ("properties", "changes", "with_statistics", "new", "dropped", "write")
        return all(getattr(self, step) == getattr(other, step) for step in steps)

    def undo_before_changes(self, done: Iterable[str]) -> list[str]:
        """Give the statements that take back what ``before_changes`` has set.

        Args:
            done: the statements that have run.

        Returns:
            Statements, none where none of ``before_changes`` has run, or all are taken back.
        """
        ran = set(done)
        if not ran & set(self.before_changes):
            return []
        return [statement for statement in self.after_changes if statement not in ran]


def _statements_before_write(plan: Plan) -> Iterator[str]:
    if plan.properties:
        yield _properties_statement(plan)
    yield from plan.before_changes
    yield from _alter_types(plan)
    yield from plan.after_changes
    if plan.new:
        yield _add_statement(plan)


def _properties_statement(plan: Plan) -> str:
    return sql.set_properties(plan.table, dict(plan.properties))


def _add_statement(plan: Plan) -> str:
    return sql.add_columns(plan.table, ((new.path, new.field.dataType) for new in plan.new))


def _alter_types(plan: Plan) -> list[str]:
    return [statement for statement, _ in _type_statements(plan)]


def _type_statements(plan: Plan) -> Iterator[tuple[str, tuple[TypeChange, ...]]]:
    """Give each statement that changes types, with the changes that it makes."""
    plain = tuple(each for each in plan.changes if each not in plan.with_statistics)
    if plain and plan.in_one_statement:
        yield _alter(plan, plain), plain
    else:
        yield from ((_alter(plan, [each]), (each,)) for each in plain)
    if plan.with_statistics:
        yield plan.statement_with_statistics, plan.with_statistics


def _alter(plan: Plan, changes: Iterable[TypeChange]) -> str:
    return sql.alter_types(plan.table, ((each.path, each.to_type) for each in changes))
