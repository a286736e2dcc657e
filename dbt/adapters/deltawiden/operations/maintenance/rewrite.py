"""Rewrite the stale files of a table, for ``drop_type_widening`` and ``rewrite_widened_files``."""

from collections.abc import Sequence

from dbt_common.events.format import pluralize

from dbt.adapters.deltawiden.delta.data_files import DataFiles, StaleFile
from dbt.adapters.deltawiden.operations.maintenance.table import MaintainedTable
from dbt.adapters.deltawiden.operations.progress import log_progress
from dbt.adapters.deltawiden.sql.sizes import size_text


def rewrite_text(files: DataFiles, stale: Sequence[StaleFile]) -> str:
    """Render the rewrite of stale files: how many, their size, and how they are rewritten."""
    size = size_text(sum(stale_file.file.size for stale_file in stale))
    return f"rewrite {pluralize(len(stale), 'file')} ({size}) {files.rewrite_text}"


def rewrite(table: MaintainedTable, stale: Sequence[StaleFile]) -> str:
    """Rewrite stale files, show the progress, and return the text about it."""
    text = rewrite_text(table.files, stale)
    log_progress(f"{table.name}: {text}")

    def show(rewritten: int) -> None:
        log_progress(f"{table.name}: {rewritten} of {pluralize(len(stale), 'file')} rewritten")

    table.files.rewrite(stale, show)
    return text
