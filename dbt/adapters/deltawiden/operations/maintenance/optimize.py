"""``optimize``: compact the files of tables, and order their rows by columns if asked to."""

from collections.abc import Mapping, Sequence
from functools import partial

from dbt_common.events.format import pluralize
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.conflicts import retry_same_commit
from dbt.adapters.deltawiden.delta.table_snapshot import TableSnapshot
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable
from dbt.adapters.deltawiden.operations.result import OperationResult, log_progress, steps_text
from dbt.adapters.deltawiden.sql import statements
from dbt.adapters.deltawiden.sql.identifiers import columns_sql, path_text
from dbt.adapters.deltawiden.sql.sizes import size_text

_METRICS = {
    "files_added": "numAddedFiles",
    "files_removed": "numRemovedFiles",
    "bytes_added": "numAddedBytes",
    "bytes_removed": "numRemovedBytes",
}
"""The keys of a result, each with the metric of OPTIMIZE in the table's history,
https://docs.delta.io/latest/delta-utility.html#operation-metrics-keys."""


def optimize_table(
    table: MaintainedTable, zorder_by: Sequence[str], where: str | None, dry_run: bool
) -> OperationResult:
    """Compact the files of a table. It changes no row. Calling it again is always safe.

    A Z-order rewrites all files, each time. A condition on partition columns selects partitions.

    Raises:
        DbtRuntimeError: the table is clustered, and has no Z-order or partitions.
        DbtDatabaseError: Delta refused the statement, or other writers came first each time.

    Source:
        https://docs.delta.io/latest/optimizations-oss.html
    """
    snapshot = table.snapshot()
    _check_clustering(snapshot, zorder_by, where)
    table.require_moments_kept()
    statement = statements.optimize(table.name, columns_sql(zorder_by) if zorder_by else "", where)
    if dry_run:
        files = pluralize(snapshot.files or 0, "file")
        return OperationResult(
            table.name,
            shown={"result": steps_text([statement], dry_run), "files": files},
            values={"state": "dry_run", "statements": [statement], "files": snapshot.files},
        )
    before = table.files.version()
    log_progress(statement)
    retry_same_commit(partial(table.run, statement))
    return _result(table, statement, before)


def _check_clustering(snapshot: TableSnapshot, zorder_by: Sequence[str], where: str | None) -> None:
    if not snapshot.clustering_columns or not (zorder_by or where):
        return
    columns = ", ".join(path_text(path) for path in snapshot.clustering_columns)
    given = "zorder_by" if zorder_by else "where"
    raise DbtRuntimeError(
        f"This table is clustered by {columns}. OPTIMIZE orders its rows by these columns, and it "
        f"has no partitions, so `{given}` can't be used. Leave `{given}` out; to order the rows by "
        "other columns, change the table with ALTER TABLE ... CLUSTER BY."
    )


def _result(table: MaintainedTable, statement: str, before: int) -> OperationResult:
    # One OPTIMIZE can make several commits.
    commits = [
        commit for commit in table.own_commits_since(before) if commit.operation == "OPTIMIZE"
    ]
    counts = {
        key: sum(int(commit.metrics.get(metric, 0)) for commit in commits)
        for key, metric in _METRICS.items()
    }
    done = _files_text(counts) if commits else "nothing to do"
    state = "optimized" if commits else "nothing_to_do"
    return OperationResult(
        table.name,
        shown={"result": done, "files": pluralize(table.snapshot().files or 0, "file")},
        values={"state": state, "statements": [statement], **counts},
    )


def _files_text(counts: Mapping[str, int]) -> str:
    removed, added = (pluralize(counts[f"files_{side}"], "file") for side in ("removed", "added"))
    before, after = (size_text(counts[f"bytes_{side}"]) for side in ("removed", "added"))
    return f"{removed} ({before}) became {added} ({after})"
