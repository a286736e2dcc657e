"""The steps of a plan that change types, and keep the statistics of the table's files right."""

from collections.abc import Sequence

from dbt.adapters.deltawiden.delta.engine import Capability
from dbt.adapters.deltawiden.delta.float_statistics import (
    guarding_settings,
    is_float_to_double,
    leaves_with_statistics,
    settings_before,
)
from dbt.adapters.deltawiden.delta.protocol import DELETION_VECTORS
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.widening.blockers import has_smaller_range
from dbt.adapters.deltawiden.widening.steps import (
    AlterTypes,
    CheckStatistics,
    PurgeDeletedRows,
    RewriteRows,
    SetStatistics,
    Step,
    UnsetStatistics,
    WidenFloats,
    restore_statistics,
)


def type_steps(changes: tuple[TypeChange, ...], snapshot: TableSnapshot) -> Sequence[Step]:
    """Return the steps that change types, and those that keep the table's files readable."""
    if has_smaller_range(changes) and DELETION_VECTORS in snapshot.features:
        return [PurgeDeletedRows(snapshot.name), *_type_steps(changes, snapshot)]
    return _type_steps(changes, snapshot)


def _type_steps(changes: tuple[TypeChange, ...], snapshot: TableSnapshot) -> Sequence[Step]:
    floats = tuple(change for change in changes if needs_statistics(change, snapshot))
    if not floats:
        return _alter_types(changes, snapshot)
    if not snapshot.corrects_statistics:
        return _without_statistics(floats, _alter_types(changes, snapshot), snapshot)
    others = tuple(change for change in changes if change not in floats)
    return [*_alter_types(others, snapshot), WidenFloats(snapshot.name, floats)]


def needs_statistics(change: TypeChange, snapshot: TableSnapshot) -> bool:
    """Return whether a type change makes the statistics of the table's files wrong."""
    # Iceberg stores the limits of a column as bytes, which it reads as a float or a double.
    return (
        snapshot.is_delta
        and is_float_to_double(change)
        and change.path in leaves_with_statistics(snapshot.schema)
    )


def _alter_types(changes: tuple[TypeChange, ...], snapshot: TableSnapshot) -> Sequence[Step]:
    if changes and snapshot.engine.can(Capability.ALTER_SEVERAL_COLUMNS):
        return [AlterTypes(snapshot.name, changes)]
    return [AlterTypes(snapshot.name, (change,)) for change in changes]


def _without_statistics(
    floats: Sequence[TypeChange], steps: Sequence[Step], snapshot: TableSnapshot
) -> Sequence[Step]:
    table, leaves = snapshot.name, [change.path for change in floats]
    properties, unset = guarding_settings(snapshot, leaves)
    restoring = restore_statistics(table, settings_before(snapshot), snapshot.schema)
    return [
        SetStatistics(table, tuple(properties.items()), restoring),
        *([UnsetStatistics(table, tuple(unset))] if unset else []),
        # Also for an empty table: another writer may have added files meanwhile.
        RewriteRows(table, leaves[0][0], tuple(snapshot.comparable_expressions)),
        CheckStatistics(table),
        *steps,
        *restoring,
    ]
