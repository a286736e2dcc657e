"""dbt's log, in which each line of this adapter has its name."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError, EventCompilationError


class Logger(AdapterLogger):
    """dbt's logger, whose warnings never become errors: rows can be written before one."""

    def warning(self, msg: object, *args: object) -> None:
        """Log a warning.

        dbt makes an error of it under ``--warn-error`` if a project has set
        ``require_all_warnings_handled_by_warn_error``.
        """
        try:
            super().warning(msg, *args)
        except EventCompilationError:
            self.error(msg, *args)


logger = Logger("DeltaWiden")


@contextmanager
def shown_for_a_batch(node: Any) -> Iterator[None]:
    """Show an error of a batch: dbt shows none that comes before the batch's materialization."""
    try:
        yield
    except DbtRuntimeError as error:
        if getattr(node, "batch", None):
            text = f"Error in model {node.name} ({node.original_file_path})\n{error.msg}"
            logger.error(text)
        raise
