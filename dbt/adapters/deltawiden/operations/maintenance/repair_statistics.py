"""``repair_statistics``: correct the statistics of files from before a float became double.

If only ``ALTER TABLE`` changed a column from float to double, the statistics of older files are
still those of a float. ``delta/float_statistics.py`` explains why filters do not find their rows.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from dbt_common.events.format import pluralize
from pyspark.sql.types import StructType

from dbt.adapters.deltawiden.delta.data_files import DataFiles, StaleFile, find_stale
from dbt.adapters.deltawiden.delta.float_statistics import (
    SAVED_SETTINGS_PROPERTY,
    is_float_to_double,
    widened_floats,
)
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.delta.type_change import TypeChange
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable
from dbt.adapters.deltawiden.operations.result import OperationResult, log_progress, steps_text
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text
from dbt.adapters.deltawiden.sql.sizes import size_text
from dbt.adapters.deltawiden.widening.steps import restore_statistics


def repair_table(table: MaintainedTable, dry_run: bool) -> OperationResult:
    """Correct the statistics of the files in which a double column is still float.

    Calling it again is always safe. It also restores the settings that a widening changed for its
    duration, if the widening ended before it could restore them.

    Raises:
        DbtDatabaseError: Delta refused a statement or commit. The steps before it are complete.
    """
    snapshot = table.snapshot()
    schema, changes = table.schema()
    wrong = find_wrong(table.files, schema, widened_floats(changes, schema))
    if not table.files.rewrites_single_files:
        table.require_rewrite(wrong)
    steps = [*_restore(snapshot, schema), *_correction_text(table.files, wrong)]
    if not dry_run:
        # Restore them first, so that rewritten files have statistics.
        for statement in _restore(snapshot, schema):
            log_progress(statement)
            table.run(statement)
        if wrong:
            log_progress(f"{snapshot.name}: {_correction_text(table.files, wrong)[0]}")
            table.files.correct_stale(wrong)
    return _result(snapshot, wrong, steps, partitioned_by_float(snapshot, changes), dry_run)


def find_wrong(files: DataFiles, schema: StructType, leaves: Sequence[Path]) -> Sequence[StaleFile]:
    """Find the files that have the statistics of a float although the column is double.

    With SQL alone, these are all files in which one of the leaves is float.
    """
    if not leaves:
        return []
    listed = files.may_have_float_statistics(leaves)
    return list(find_stale(files, listed, schema, lambda leaf: leaf.path in leaves))


def partitioned_by_float(snapshot: TableSnapshot, changes: Iterable[TypeChange]) -> tuple[str, ...]:
    """Find the partition columns that were float. Their values are different numbers as double."""
    floats = {change.path[0] for change in changes if is_float_to_double(change)}
    return tuple(name for name in snapshot.partition_columns if name in floats)


def _restore(snapshot: TableSnapshot, schema: StructType) -> list[str]:
    before = snapshot.properties.get(SAVED_SETTINGS_PROPERTY)
    if not before:
        return []
    return [step.statement for step in restore_statistics(snapshot.name, before, schema)]


def _correction_text(files: DataFiles, wrong: Sequence[StaleFile]) -> list[str]:
    if not wrong:
        return []
    size = size_text(sum(stale.file.size for stale in wrong))
    count = pluralize(len(wrong), "file")
    return [f"correct the statistics of {count} ({size}) {files.correction_text}"]


def _result(
    snapshot: TableSnapshot,
    wrong: Sequence[StaleFile],
    steps: list[str],
    partition_columns: tuple[str, ...],
    dry_run: bool,
) -> OperationResult:
    columns = list(dict.fromkeys(leaf.path for stale in wrong for leaf in stale.leaves))
    values: dict[str, Any] = {
        "state": "dry_run" if dry_run else "repaired" if steps else "right",
        "statements": steps,
        "columns": [list(path) for path in columns],
        "files": len(wrong),
        "partitioned_by_float": list(partition_columns),
    }
    return OperationResult(
        snapshot.name,
        shown={
            "result": steps_text(steps, dry_run),
            "columns": ", ".join(path_text(path) for path in columns) or "-",
            "left": partition_text(partition_columns) or "-",
        },
        values=values,
    )


def partition_text(columns: Iterable[str]) -> str:
    """Render the message that partition columns can't be repaired, or an empty text for none."""
    names = ", ".join(path_text((name,)) for name in columns)
    if not names:
        return ""
    return (
        f"the partition values of {names} are other numbers since it became double: rebuild the "
        "table (dbt run --full-refresh --select NAME)"
    )
