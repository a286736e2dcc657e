"""Plan the renames that a configuration asks for, before the rest of a plan."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.config.renamed_columns import Renames
from dbt.adapters.deltawiden.delta.float_statistics import renamed_settings
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.sql.identifiers import Path, moved, path_text, quote
from dbt.adapters.deltawiden.sql.references import uses
from dbt.adapters.deltawiden.widening.blockers import is_beside_char
from dbt.adapters.deltawiden.widening.plan import Plan
from dbt.adapters.deltawiden.widening.refusals import Blocker, Reason, Refusal
from dbt.adapters.deltawiden.widening.request import NoSuchLeaf, find_field
from dbt.adapters.deltawiden.widening.schema_diff import SchemaChanges, schema_after
from dbt.adapters.deltawiden.widening.steps import RenameColumn


@dataclass(frozen=True)
class PlannedRenames:
    """The renames that have not been made, and the table as it is after them."""

    snapshot: TableSnapshot
    steps: tuple[RenameColumn, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    def added_to(self, plan: Plan) -> Plan:
        """Add the renames to a plan for the renamed table.

        A refused plan renames nothing, so its refusals have the names that the table has.
        """
        refusals = (replace(each, path=self._now(each.path)) for each in plan.refusals)
        return replace(plan, refusals=(*self.refusals, *refusals)).adding(*self.steps)

    def _now(self, path: Path) -> Path:
        for step in reversed(self.steps):
            path = moved(path, step.after, step.path)
        return path


def plan_renames(renames: Renames, source: StructType, snapshot: TableSnapshot) -> PlannedRenames:
    """Plan the renames that have not been made, by the schema of the model's output."""
    steps: list[RenameColumn] = []
    refusals: list[Refusal] = []
    for new, old in renames.items():
        before = (*new[:-1], old)
        blockers = list(_name_blockers(new, before, source, snapshot.schema))
        if path := _pending(new, before, snapshot.schema):
            blockers += _table_blockers(path, snapshot)
            steps.append(RenameColumn(snapshot.name, path, new[-1]))
            snapshot = _renamed(steps[-1], snapshot)
        now = path_text(new)
        refusals += [
            Refusal(b.reason, before, detail=b.detail or now, name=b.name) for b in blockers
        ]
    return PlannedRenames(snapshot, tuple(steps), tuple(refusals))


def renamed_schema(renames: Renames, table: StructType) -> StructType:
    """Return a table's schema after the renames that are left. The same object if none is."""
    for new, old in renames.items():
        if path := _pending(new, (*new[:-1], old), table):
            table = schema_after(SchemaChanges(renamed={path: new[-1]}), table)
    return table


def _pending(new: Path, before: Path, table: StructType) -> Path | None:
    """Return the old path in the table's spelling, if the rename has not been made."""
    return None if _find(new, table) else _find(before, table)


def _find(path: Path, schema: StructType) -> Path | None:
    try:
        return find_field(path, schema)[0]
    except NoSuchLeaf:
        return None


def _renamed(step: RenameColumn, snapshot: TableSnapshot) -> TableSnapshot:
    schema = schema_after(SchemaChanges(renamed={step.path: step.name}), snapshot.schema)

    def rename(path: Path) -> Path:
        return moved(path, step.path, step.after)

    settings = renamed_settings(snapshot.properties, rename)
    return snapshot.with_names(schema, rename).with_properties(settings)


def _name_blockers(
    new: Path, before: Path, source: StructType, table: StructType
) -> Iterator[Blocker]:
    has_new, has_old = bool(_find(new, table)), bool(_find(before, table))
    if not _find(new, source):
        yield Blocker(Reason.RENAME_NOT_IN_MODEL)
    elif not has_new and not has_old:
        yield Blocker(Reason.RENAME_NEITHER_IN_TABLE)
    elif _find(before, source):
        # With both names in both, there is nothing to do.
        if not has_new:
            yield Blocker(Reason.RENAME_OLD_IN_MODEL)
    elif has_new and has_old:
        yield Blocker(Reason.RENAME_BOTH_IN_TABLE)


def _table_blockers(path: Path, snapshot: TableSnapshot) -> Iterator[Blocker]:
    """Find what in a table blocks the rename of a column or nested field.

    Source:
        DELTA_UNSUPPORTED_RENAME_COLUMN, DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE,
        DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE
    """
    if not snapshot.is_delta:
        if not snapshot.is_iceberg:
            yield Blocker(Reason.RENAME_NEEDS_DELTA)
        return
    if snapshot.column_mapping == "none":
        yield Blocker(Reason.RENAME_NEEDS_COLUMN_MAPPING)
    if is_beside_char(path, snapshot):
        yield Blocker(Reason.BESIDE_CHAR)
    for name, expression in snapshot.constraints.items():
        if uses(expression, path, snapshot.schema):
            yield Blocker(Reason.RENAME_IN_CONSTRAINT, expression, quote(name))
    for name, expression in snapshot.generation_expressions.items():
        if uses(expression, path, snapshot.schema):
            yield Blocker(Reason.RENAME_IN_GENERATED, expression, quote(name))
