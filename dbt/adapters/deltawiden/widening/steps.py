"""The steps of a plan: each is one statement that changes a table, and knows when it runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Any, ClassVar

from dbt_common.exceptions import DbtDatabaseError
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.backends.sql import SqlBackend
from dbt.adapters.deltawiden.delta.float_statistics import restored_settings
from dbt.adapters.deltawiden.delta.history import others_set_properties
from dbt.adapters.deltawiden.delta.protocol import TYPE_WIDENING_PROPERTY
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.log import logger
from dbt.adapters.deltawiden.sql.identifiers import Path, path_sql, path_text, quote
from dbt.adapters.deltawiden.sql.statements import rewrite_rows, set_properties, unset_properties
from dbt.adapters.deltawiden.sql.types import type_sql
from dbt.adapters.deltawiden.widening.schema_diff import FieldDifference


class Stage(IntEnum):
    """When a step runs. The order of the members is the order of the steps of every plan.

    What the engine alone can refuse comes first, so that a refusal leaves nothing behind.
    """

    PROPERTIES = auto()
    RENAMES = auto()
    """All later steps have the new names."""
    CLUSTERING = auto()
    """The engine alone knows which types it can cluster by."""
    NEW_COLUMNS_IN_ICEBERG = auto()
    """Iceberg alone knows which types a table of its version can have."""
    TYPES = auto()
    NEW_COLUMNS = auto()
    NEW_CLUSTERING = auto()
    """Clusters by new columns."""
    DEFAULTS = auto()
    """Runs before the write, so that the nulls of the write itself are not filled."""
    WRITE = auto()
    """No step: the statement that writes the rows."""
    BACKFILL = auto()
    CLUSTERING_AGAIN = auto()
    """Restores the clustering that the write has removed."""
    DROPS = auto()


@dataclass(frozen=True)
class Step:
    """One statement that changes a table.

    Attributes:
        table: the table's name, quoted for a statement.
        verb: what the step does to ``subjects``, for people.
        is_goal: whether the table stays as the step makes it. Another run may have the same goal.
        is_repeated: whether the next run knows of the step, if it fails after the write.
        copies_rows: whether the step writes rows that exist again.
    """

    verb: ClassVar[str] = ""
    is_goal: ClassVar[bool] = True
    is_repeated: ClassVar[bool] = True
    copies_rows: ClassVar[bool] = False

    table: str

    @property
    def stage(self) -> Stage:
        """When the step runs."""
        raise NotImplementedError

    @property
    def statement(self) -> str:
        """The statement, for people: what ``run`` does can be more."""
        return self._sql()

    def _sql(self) -> str:
        raise NotImplementedError

    @property
    def subjects(self) -> tuple[str, ...]:
        """What a reader of the table finds changed, for people."""
        return ()

    def run(self, backend: SqlBackend) -> None:
        """Make the change."""
        backend.execute(self.statement)

    def undo(self, done: Sequence["Step"]) -> tuple["Step", ...]:
        """Return the steps that undo this one, after those done. Empty if it stays."""
        return ()


@dataclass(frozen=True)
class SetProperties(Step):
    """Sets table properties: of the model, for type widening, and to support table features."""

    stage = Stage.PROPERTIES

    properties: tuple[tuple[str, str], ...]

    def _sql(self) -> str:
        return set_properties(self.table, dict(self.properties))

    def undo(self, done: Sequence[Step]) -> tuple[Step, ...]:
        """Turn type widening off again, if no type was changed."""
        if type_changes(done) or TYPE_WIDENING_PROPERTY not in dict(self.properties):
            return ()
        return (UnsetProperties(self.table, (TYPE_WIDENING_PROPERTY,)),)


@dataclass(frozen=True)
class UnsetProperties(Step):
    """Removes table properties."""

    stage = Stage.PROPERTIES

    keys: tuple[str, ...]

    def _sql(self) -> str:
        return unset_properties(self.table, self.keys)


@dataclass(frozen=True)
class SetStatistics(SetProperties):
    """Sets which columns have statistics in the table's files, until other steps restore it."""

    stage = Stage.TYPES
    is_goal: ClassVar[bool] = False

    restored_by: tuple[Step, ...] = ()

    def undo(self, done: Sequence[Step]) -> tuple[Step, ...]:
        """Restore the settings."""
        return self.restored_by


class UnsetStatistics(UnsetProperties):
    """Removes settings for the columns that have statistics."""

    stage = Stage.TYPES
    is_goal: ClassVar[bool] = False


@dataclass(frozen=True)
class RewriteRows(Step):
    """Sets any column to itself. To a reader of the table's changes, it changes every row."""

    stage = Stage.TYPES
    is_goal: ClassVar[bool] = False
    copies_rows: ClassVar[bool] = True

    column: str
    generated: tuple[str, ...] = ()

    def _sql(self) -> str:
        return rewrite_rows(self.table, self.column, self.generated)


class CheckStatistics(Step):
    """Ends the attempt if the settings may not have been those of ``SetStatistics`` all the time.

    Another command can have restored them, so that files have the statistics of a float again.
    """

    stage = Stage.TYPES
    is_goal: ClassVar[bool] = False

    def _sql(self) -> str:
        return f"describe history {self.table}"

    def run(self, backend: SqlBackend) -> None:
        """Read the history, which also has the settings that others have removed again."""
        if others_set_properties(self.table, backend.fetch_rows):
            raise DbtDatabaseError(
                f"[DELTA_METADATA_CHANGED] Another writer has set properties of {self.table}, "
                "which can be those that keep the statistics of its files right."
            )


class PurgeDeletedRows(Step):
    """Rewrites the files that still have rows which a deletion vector marks as deleted."""

    stage = Stage.TYPES
    is_goal: ClassVar[bool] = False
    copies_rows: ClassVar[bool] = True

    def _sql(self) -> str:
        return f"reorg table {self.table} apply (purge)"


@dataclass(frozen=True)
class AlterTypes(Step):
    """Changes the types of columns and nested fields in one commit. A widening stays."""

    stage = Stage.TYPES
    verb: ClassVar[str] = "widened"

    changes: tuple[TypeChange, ...]

    def _sql(self) -> str:
        types = (f"{path_sql(each.path)} type {type_sql(each.to_type)}" for each in self.changes)
        return f"alter table {self.table} alter column {', '.join(types)}"

    @property
    def subjects(self) -> tuple[str, ...]:
        """The type changes."""
        return tuple(change.text for change in self.changes)


@dataclass(frozen=True)
class RenameColumn(Step):
    """Renames a column or nested field: ``path`` is the old path. No file is rewritten."""

    stage = Stage.RENAMES
    verb: ClassVar[str] = "renamed"

    path: Path
    name: str

    def _sql(self) -> str:
        return f"alter table {self.table} rename column {path_sql(self.path)} to {quote(self.name)}"

    @property
    def after(self) -> Path:
        """The path after the rename."""
        return (*self.path[:-1], self.name)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The old path and the new one."""
        return (f"{path_text(self.path)} -> {path_text(self.after)}",)

    @property
    def value(self) -> dict[str, Any]:
        """The rename as a value for JSON."""
        return {"path": list(self.after), "from": list(self.path)}

    def undo(self, done: Sequence[Step]) -> tuple[Step, ...]:
        """Give the column its old name again, which everything that reads the table uses."""
        return (RenameColumn(self.table, self.after, self.path[-1]),)


class WidenFloats(AlterTypes):
    """Changes floats to doubles after it has corrected the statistics of the table's files."""

    def _sql(self) -> str:
        return f"{super()._sql()} /* with the statistics of its files */"

    def run(self, backend: SqlBackend) -> None:
        """Correct the statistics, and change the types in a transaction of Delta's own."""
        logger.debug(f"In Delta's own transactions: {self.statement}")
        backend.widen_floats(self.table, [change.path for change in self.changes])


@dataclass(frozen=True)
class ClusterBy(Step):
    """Changes the columns that the table is clustered by. Without any, it removes them."""

    columns: tuple[Path, ...]
    stage: Stage = Stage.CLUSTERING

    def _sql(self) -> str:
        columns = f"({', '.join(map(path_sql, self.columns))})" if self.columns else "none"
        return f"alter table {self.table} cluster by {columns}"


class ClusterByHand(ClusterBy):
    """Restores clustering columns that no model has: a person has set them."""

    is_repeated: ClassVar[bool] = False


@dataclass(frozen=True)
class _FieldsStep(Step):
    fields: tuple[FieldDifference, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(path_text(field.path) for field in self.fields)


@dataclass(frozen=True)
class AddColumns(_FieldsStep):
    """Adds columns and nested fields."""

    verb: ClassVar[str] = "added"

    stage: Stage = Stage.NEW_COLUMNS

    def _sql(self) -> str:
        added = (f"{path_sql(each.path)} {type_sql(each.field.dataType)}" for each in self.fields)
        return f"alter table {self.table} add columns ({', '.join(added)})"


class DropColumns(_FieldsStep):
    """Drops columns and nested fields."""

    stage = Stage.DROPS
    verb: ClassVar[str] = "dropped"

    def _sql(self) -> str:
        dropped = (path_sql(each.path) for each in self.fields)
        return f"alter table {self.table} drop columns ({', '.join(dropped)})"


def restore_statistics(table: str, before: str, schema: StructType) -> tuple[Step, ...]:
    """Return the steps that restore ``SAVED_SETTINGS_PROPERTY``, from before ``SetStatistics``."""
    were_set, were_unset = restored_settings(before, schema)
    restored = (SetStatistics(table, tuple(were_set.items())),) if were_set else ()
    return (*restored, UnsetStatistics(table, tuple(were_unset)))


def type_changes(steps: Iterable[Step]) -> tuple[TypeChange, ...]:
    """Return the type changes that steps make."""
    altering = (step for step in steps if isinstance(step, AlterTypes))
    return tuple(change for step in altering for change in step.changes)
