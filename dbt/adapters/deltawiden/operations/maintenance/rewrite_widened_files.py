"""``rewrite_widened_files``: rewrite the files from before a widening that filters misread."""

import time
from collections.abc import Sequence
from dataclasses import replace

from dbt.adapters.deltawiden.delta.data_files import StaleFile
from dbt.adapters.deltawiden.delta.widened_files import misread_columns
from dbt.adapters.deltawiden.operations.maintenance.feature_state import FeatureReader, FeatureState
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable
from dbt.adapters.deltawiden.operations.result import OperationResult, steps_text, unexpected_state
from dbt.adapters.deltawiden.sql.identifiers import Path, path_text

_NOTHING_STALE = {"stale_files": 0, "stale_bytes": 0}


def rewrite_files(table: MaintainedTable, dry_run: bool) -> OperationResult:
    """Rewrite the files of a table in which filters of Spark misread a widened column.

    Calling it again is always safe: what is rewritten is not rewritten again. The files are only
    read if a type change that needs it is recorded in the table.

    Raises:
        DbtRuntimeError: the table is not in the expected state afterwards.
        DbtDatabaseError: Delta refused a commit. The commits before it are complete.
    """
    started = time.monotonic()
    schema, changes = table.schema()
    columns = misread_columns(changes, schema, table.snapshot().partition_columns)
    if not columns:
        return OperationResult(
            table.name,
            {"result": "nothing to do", "columns": "-", "stale": "-"},
            {"state": "nothing_to_do", "statements": [], "columns": [], **_NOTHING_STALE},
        )
    reader = FeatureReader(table)
    before = _misread(reader.read(), columns)
    table.require_rewrite(before.stale)
    if dry_run or not before.stale:
        planned = [table.rewrite_text(before.stale)] if before.stale else []
        return _result(before, "dry_run" if dry_run else "nothing_to_do", planned)
    done = table.rewrite(before.stale)
    after = _misread(reader.read(), columns)
    others = table.others_since(before.version)
    if not others:
        _check(before, after)
    result = _result(before, "rewritten", [done])
    seconds = time.monotonic() - started
    more = {"seconds": round(seconds, 1), "written_by_others": list(others)}
    return replace(result, values={**result.values, **more})


def _misread(state: FeatureState, columns: Sequence[Path]) -> FeatureState:
    """Return a state with only those stale files in which filters misread one of the columns."""
    found = (
        StaleFile(
            stale.file,
            tuple(leaf for leaf in stale.leaves if leaf.is_misread and leaf.path in columns),
        )
        for stale in state.stale
    )
    return replace(state, stale=[stale for stale in found if stale.leaves])


def _check(before: FeatureState, after: FeatureState) -> None:
    """Check that no file is left and no row is lost, if no other writer has written."""
    found = []
    if after.stale:
        found.append(f"{after.stale_text} still hold older types")
    if after.rows != before.rows:
        found.append(f"the table had {before.rows} rows and has {after.rows}")
    if found:
        raise unexpected_state("rewrite", found, before.version)


def _result(before: FeatureState, state: str, statements: Sequence[str]) -> OperationResult:
    columns = list(dict.fromkeys(leaf.path for stale in before.stale for leaf in stale.leaves))
    return OperationResult(
        before.snapshot.name,
        shown={
            "result": steps_text(statements, state == "dry_run"),
            "columns": ", ".join(map(path_text, columns)) or "-",
            "stale": before.stale_text,
        },
        values={
            "state": state,
            "statements": list(statements),
            "columns": [list(path) for path in columns],
            **before.counts,
        },
    )
