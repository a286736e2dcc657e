"""``analyze``: collect the statistics of a table's files again.

Spark's ``ANALYZE TABLE`` does not support Delta tables. Delta collects the statistics of a file
when it writes the file, and uses them to leave out files that a filter does not need. A file has
none if its writer did not collect them: another program, a conversion from Parquet, or Delta before
``delta.dataSkippingStatsColumns`` or ``delta.dataSkippingNumIndexedCols`` was changed.
"""

from dbt_common.events.format import pluralize
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.deltawiden.delta.protocol import DELETION_VECTORS
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable
from dbt.adapters.deltawiden.operations.result import OperationResult, log_progress, steps_text
from dbt.adapters.deltawiden.sql.sizes import size_text


def analyze_table(table: MaintainedTable, dry_run: bool) -> OperationResult:
    """Collect the statistics of a table's files again, in one commit. It changes no row.

    Raises:
        DbtRuntimeError: the table can have deletion vectors.
        DbtDatabaseError: Delta refused it.

    Source:
        Delta's ``StatisticsCollection.recompute``
    """
    table.backend.require_statistics()
    files = table.files.list()
    if files and DELETION_VECTORS in table.snapshot().features:  # Delta says so without a dry run.
        raise DbtRuntimeError(
            "[DELTA_UNSUPPORTED_STATS_RECOMPUTE_WITH_DELETION_VECTORS] Delta does not collect the "
            "statistics of a table with deletion vectors again."
        )
    size = size_text(sum(file.size for file in files))
    step = f"collect the statistics of {pluralize(len(files), 'file')} ({size})"
    if files and not dry_run:
        log_progress(f"{table.name}: {step}")
        table.backend.collect_statistics(table.relation)
    state = "dry_run" if dry_run else "analyzed" if files else "nothing_to_do"
    steps = [step] if files else []
    return OperationResult(
        table.name,
        shown={"result": steps_text(steps, dry_run)},
        values={"state": state, "statements": steps, "files": len(files)},
    )
